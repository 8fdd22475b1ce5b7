// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/norm_sites.h"

#include <QRegularExpression>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr double kStep = 1.0 / 8;

}  // namespace

std::vector<NormSite> placeNormSites(const std::vector<std::string>& sites) {
    static const QRegularExpression block(R"(^blocks\.(\d{1,6})\.(attn|ffn)\.norm_(in|out|post)$)");
    std::vector<NormSite> placed;
    double previous = -kStep, depth = 0;
    for (const std::string& site : sites) {
        const QString id = QString::fromStdString(site);
        NormSite norm{previous + kStep, id};
        if (const auto match = block.match(id); match.hasMatch()) {
            const int layer = match.captured(1).toInt();
            const bool ffn = match.captured(2) == "ffn";
            const QString where = match.captured(3);
            norm.x = layer + (ffn ? 0.5 : 0) + (where == "in" ? 1 : where == "out" ? 2 : 3) * kStep;
            norm.name = QString("layer %1 · %2 · norm %3").arg(layer + 1).arg(match.captured(2), where);
            depth = std::max(depth, layer + 1.0);
        } else if (id == "emb_norm") {
            norm = {0, "embedding norm"};
        } else if (id == "final_norm") {
            norm = {depth + kStep, "final norm"};
        }
        previous = norm.x;
        placed.push_back(std::move(norm));
    }
    return placed;
}

bool isPostNorm(const std::string& site) {
    return site.ends_with(".norm_post");
}

}  // namespace normscope::widgets
