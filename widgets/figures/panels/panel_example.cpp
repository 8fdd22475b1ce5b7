// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/panel_example.h"

#include "core/base/nan.h"
#include "core/base/strict_json.h"
#include "core/recipe/presets.h"

namespace normscope::widgets {

namespace {

PanelExample::Points pointsOf(const nlohmann::json& list) {
    PanelExample::Points points;
    for (const auto& point : list)
        points.emplace_back(point.at(0).get<double>(),
                            point.at(1).is_null() ? kNaN : point.at(1).get<double>());
    return points;
}

}  // namespace

std::optional<PanelExample> panelExample(const std::string& panel) {
    static const nlohmann::json all = strict_json(help_files().front().json, "examples").at("panels");
    const auto found = all.find(panel);
    if (found == all.end()) return {};
    return PanelExample{pointsOf(found->at("learned")), pointsOf(found->at("stalled")),
                        QString::fromStdString(found->value("reduced_by", std::string()))};
}

}  // namespace normscope::widgets
