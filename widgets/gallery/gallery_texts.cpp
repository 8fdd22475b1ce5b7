// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_texts.h"

#include "core/recipe/recipe.h"
#include "core/stack/scheme_rows.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/sweep/sweep_figure.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("Gallery", text);
}

/// "42 to 46" of seeds without a gap, else each.
QString seedsText(const std::vector<std::uint64_t>& seeds) {
    if (seeds.size() > 2 && seeds.back() - seeds.front() == seeds.size() - 1 &&
        std::is_sorted(seeds.begin(), seeds.end()))
        return tr("%1 to %2").arg(seeds.front()).arg(seeds.back());
    QStringList all;
    for (const std::uint64_t seed : seeds) all << QString::number(seed);
    return all.join(QStringLiteral(", "));
}

}  // namespace

QString verdictText(GalleryVerdict verdict) {
    return tr(gallery_verdict_text(verdict));
}

std::vector<std::pair<GalleryVerdict, std::size_t>> verdictCounts(const GalleryRow& row) {
    const auto& findings = row.state.result.findings;
    std::vector<std::pair<GalleryVerdict, std::size_t>> counts;
    if (findings.empty()) return {{GalleryVerdict::NotMeasured, row.entry.measures.size()}};
    for (const GalleryVerdict verdict : kGalleryVerdicts) {
        const auto count = std::count_if(findings.begin(), findings.end(),
                                         [&](const GalleryFinding& one) { return one.verdict == verdict; });
        if (count > 0) counts.emplace_back(verdict, static_cast<std::size_t>(count));
    }
    return counts;
}

QString countText(const std::pair<GalleryVerdict, std::size_t>& count) {
    return QStringLiteral("%1 %2").arg(count.second).arg(verdictText(count.first));
}

QString stateText(const GalleryRow& row) {
    const std::size_t total = row.entry.sweep.trained_runs();
    if (row.running)
        return (row.stopping ? tr("stopping, %1 of %2 runs") : tr("running, %1 of %2 runs"))
            .arg(row.ended)
            .arg(total);
    const GalleryState& state = row.state;
    using Kind = GalleryState::Kind;
    switch (state.kind) {
        case Kind::Unread:
            return tr("%1 runs").arg(total);
        case Kind::NotRun:
            return tr("%1 runs, not run").arg(total);
        case Kind::Partial:
            return tr("%1 of %2 runs").arg(state.result.ended).arg(total);
        case Kind::Ended:
            return tr("%1 runs, measured").arg(total);
        case Kind::Damaged:
            return tr("damaged files");
        case Kind::Other:
            break;
    }
    return tr("another sweep's folder");
}

QString sourceText(const GalleryEntry& entry) {
    return QStringLiteral("%1 · %2").arg(QString::fromUtf8(entry.paper()),
                                         QString::fromStdString(entry.place));
}

QStringList sweepLines(const SweepSpec& sweep) {
    const std::vector<SweepRun> runs = expand_sweep(sweep);
    const Recipe base = recipe_of(sweep, runs.front());
    const auto varies = [&](const char* key) {
        return std::any_of(sweep.grid.begin(), sweep.grid.end(),
                           [&](const SweepAxis& axis) { return axis.key == key; });
    };
    QStringList common;
    const auto add = [&](const char* key, const QString& text) {
        if (!varies(key)) common << text;
    };
    add("stack.scheme", QString::fromUtf8(scheme_row(base.stack.scheme).title));
    add("stack.depth", tr("%1 layers").arg(base.stack.depth));
    add("stack.d_model", tr("width %1").arg(base.stack.d_model));
    add("stack.heads", tr("%1 heads").arg(base.stack.heads));
    add("stack.context", tr("context %1").arg(base.stack.context));
    add("batch", tr("batch %1").arg(base.train.batch));
    add("optimizer.lr", tr("learning rate %1").arg(numberText(base.train.optimizer.lr)));
    QStringList lines = {common.join(QStringLiteral(", "))};
    for (const SweepAxis& axis : sweep.grid) {
        QStringList values;
        for (std::size_t i = 0; i < axis.values.size(); ++i) values << sweepValueName(axis, i);
        lines << QStringLiteral("%1: %2").arg(sweepKeyName(axis.key), values.join(QStringLiteral(", ")));
    }
    const auto judging = sweep.seeds.begin() + static_cast<std::ptrdiff_t>(sweep.choice.seeds);
    const std::vector<std::uint64_t> choosing(sweep.seeds.begin(), judging),
        seeds(judging, sweep.seeds.end());
    const std::size_t settings = runs.size() / sweep.seeds.size(), total = sweep.trained_runs();
    QString count = seeds.size() == 1 ? tr("seed %1").arg(seeds[0])
                                      : tr("%1 seeds (%2)").arg(seeds.size()).arg(seedsText(seeds));
    if (!choosing.empty())
        count = tr("%1 settings × seeds %2, then each arm's own best × %3")
                    .arg(settings)
                    .arg(seedsText(choosing), count);
    else if (settings > 1)
        count = tr("%1 settings × %2").arg(settings).arg(count);
    lines << (varies("steps") ? tr("%1 runs: %2").arg(total).arg(count)
                              : tr("%1 runs of %2 steps: %3").arg(total).arg(base.train.steps).arg(count));
    return lines;
}

QString armText(const GalleryArm& arm) {
    QString text = arm.name.empty() ? tr("The runs") : QString::fromStdString(arm.name);
    if (!arm.chosen.empty()) text = tr("%1 at %2").arg(text, QString::fromStdString(arm.chosen));
    text = tr("%1: median final loss %2 nat over %3 seeds")
               .arg(text, numberText(arm.loss.value_or(std::nan("")), 3))
               .arg(arm.ended);
    if (arm.learned_known) text += tr(", %1 below the entropy of token pairs").arg(arm.learned);
    return text;
}

QString distanceTable(const std::vector<RecipeDistance>& rows) {
    if (rows.empty()) return {};
    const auto cell = [](const QString& text) {
        return QStringLiteral("<td style='padding-right:12px'>%1</td>").arg(text.toHtmlEscaped());
    };
    QString table = QStringLiteral("<table><tr>%1%2%3</tr>")
                        .arg(cell(tr("recipe")), cell(tr("the paper's")), cell(tr("here")));
    for (const RecipeDistance& row : rows)
        table +=
            QStringLiteral("<tr>%1%2%3</tr>")
                .arg(cell(QString::fromUtf8(row.what.c_str())), cell(QString::fromUtf8(row.theirs.c_str())),
                     cell(QString::fromUtf8(row.ours.c_str())));
    return table + QStringLiteral("</table>");
}

}  // namespace normscope::widgets
