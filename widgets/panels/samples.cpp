// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/samples.h"

#include "widgets/panels/panel_text.h"

#include <algorithm>

namespace normscope::widgets {

namespace {

bool isDraft(const PanelInput& input, std::size_t run) {
    return run < input.draft.size() && input.draft[run];
}

/// Why a run shows nothing of a probe.
QString reason(const PanelInput& input, std::size_t index, const std::string& probe) {
    const RunData& run = *input.runs[index];
    const auto found = run.probes.find(probe);
    if (found == run.probes.end() || found->second.empty())
        return (index < input.awaited.size() && input.awaited[index] ? QString("%1 is being measured …")
                                                                     : QString("%1 was not measured"))
            .arg(QString::fromStdString(probe));
    const ProbeResult* sample = run.sample_at(probe, input.shownStep());
    if (!sample)
        return QString("first %1 sample is at step %2")
            .arg(QString::fromStdString(probe))
            .arg(found->second.front().step);
    const auto empty = [](const NamedArray& a) { return a.data.empty(); };
    if (std::all_of(sample->arrays.begin(), sample->arrays.end(), empty))  // e.g. a stack without a norm
        return QString("nothing for %1 to measure").arg(QString::fromStdString(probe));
    return QString("its %1 sample lacks this quantity").arg(QString::fromStdString(probe));
}

}  // namespace

std::vector<ShownSample> shownSamples(const PanelInput& input, const std::string& probe) {
    std::vector<ShownSample> shown;
    const auto add = [&](const RunData* run, std::size_t index, LineKind kind, std::int64_t step) {
        if (!run) return;
        if (const ProbeResult* sample = run->sample_at(probe, step))
            shown.push_back({run, static_cast<int>(index), kind, sample});
    };
    for (std::size_t i = 0; i < input.ghosts.size(); ++i)
        add(input.ghosts[i], i, LineKind::Ghost, input.shownStep());
    for (std::size_t i = 0; i < input.previews.size(); ++i) add(input.previews[i], i, LineKind::Preview, 0);
    for (std::size_t i = 0; i < input.runs.size(); ++i)
        add(input.runs[i], i, isDraft(input, i) ? LineKind::Draft : LineKind::Measured, input.shownStep());
    return shown;
}

const NamedArray* arrayOf(const ProbeResult& sample, const std::string& name, std::size_t rank) {
    const NamedArray* array = sample.find(name);
    if (!array || array->shape.size() != rank || array->data.empty()) return nullptr;
    std::size_t size = 1;
    for (const std::size_t extent : array->shape) size *= extent;
    return size == array->data.size() ? array : nullptr;
}

QString atStep(const std::vector<ShownSample>& samples) {
    QString text;
    QStringList others;
    std::int64_t first = -1;
    for (const auto& shown : samples) {
        if (!shown.own()) continue;
        if (text.isEmpty()) {
            first = shown.sample->step;
            text = QString("at step %1").arg(first);
        } else if (shown.sample->step != first) {
            others << QString("%1: %2").arg(nameOf(*shown.run)).arg(shown.sample->step);
        }
    }
    return others.isEmpty() ? text : text + " (" + others.join(", ") + ')';
}

void sayWhatIsMissing(Figure& figure, const PanelInput& input, const std::string& probe,
                      const std::vector<bool>& drawn) {
    const bool none = std::find(drawn.begin(), drawn.end(), true) == drawn.end();
    QStringList reasons;
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        if (i < drawn.size() && drawn[i]) continue;
        const QString text = nameOf(*input.runs[i]) + ": " + reason(input, i, probe);
        reasons << text;
        if (!none)
            figure.plots.front().chips.push_back(
                {Chip::Edge::BottomLeft, text, Role{Role::Kind::Run, static_cast<int>(i), 0}});
    }
    if (!none) return;
    figure.plots.clear();
    figure.empty_text = input.runs.empty() ? QString("No run to show") : reasons.join('\n');
    figure.summary = figure.title + ": nothing to show. " + reasons.join("; ");
}

}  // namespace normscope::widgets
