// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/samples.h"

#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace normscope::widgets {

namespace {

bool isDraft(const PanelInput& input, std::size_t run) {
    return run < input.draft.size() && input.draft[run];
}

bool followsNewest(const PanelInput& input) {
    return input.shownStep() == std::numeric_limits<std::int64_t>::max();
}

std::int64_t lastStep(const RunData& run) {
    return run.steps.step.empty() ? -1 : run.steps.step.back();
}

bool ended(const RunData& run) {
    const RunState state = run.outcome.state;
    return state != RunState::Prepared && state != RunState::Running && state != RunState::Paused;
}

/// Runs under comparison: not those that ended before others, nor those that have not begun.
std::vector<bool> underComparison(const std::vector<const RunData*>& runs) {
    std::int64_t farthest = -1;
    for (const RunData* run : runs) farthest = std::max(farthest, lastStep(*run));
    std::vector<bool> under;
    for (const RunData* run : runs)
        under.push_back(lastStep(*run) == farthest || (lastStep(*run) >= 0 && !ended(*run)));
    return under;
}

/// The newest step at which every run under comparison with this probe has a sample.
std::optional<std::int64_t> newestShared(const PanelInput& input, const std::string& probe,
                                         const std::vector<bool>& under) {
    std::vector<const RunData*> runs;
    for (std::size_t i = 0; i < input.runs.size(); ++i)
        if (under[i] && input.runs[i]->probes.count(probe) && !input.runs[i]->probes.at(probe).empty())
            runs.push_back(input.runs[i]);
    if (runs.empty()) return std::nullopt;
    const auto& samples = runs.front()->probes.at(probe);
    const auto common = std::find_if(samples.rbegin(), samples.rend(), [&](const ProbeResult& sample) {
        return std::all_of(runs.begin(), runs.end(),
                           [&](const RunData* run) { return run->sample_of(probe, sample.step); });
    });
    return common == samples.rend() ? std::nullopt : std::optional(common->step);
}

/// The sample of that step, else the one nearest to it, of two the earlier one; null where there is none.
const ProbeResult* nearestTo(const RunData& run, const std::string& probe, std::int64_t step) {
    const auto found = run.probes.find(probe);
    if (found == run.probes.end() || found->second.empty()) return nullptr;
    const auto& samples = found->second;
    const auto after =
        std::lower_bound(samples.begin(), samples.end(), step,
                         [](const ProbeResult& sample, std::int64_t wanted) { return sample.step < wanted; });
    if (after == samples.end()) return &samples.back();
    if (after == samples.begin()) return &*after;
    return after->step - step < step - std::prev(after)->step ? &*after : &*std::prev(after);
}

/// "of step 8, 1 step later"; of a run that ended before the step asked for, "ended at step 12".
QString ageText(std::int64_t sampled, std::int64_t asked, const RunData* run) {
    if (run && ended(*run) && lastStep(*run) >= 0 && lastStep(*run) < asked)
        return QString("ended at step %1").arg(lastStep(*run)) +
               (sampled == lastStep(*run) ? QString() : QString(", of step %1").arg(sampled));
    const std::int64_t apart = std::abs(sampled - asked);
    return QString("of step %1, %2 %3 %4")
        .arg(sampled)
        .arg(apart)
        .arg(apart == 1 ? "step" : "steps", sampled > asked ? "later" : "earlier");
}

constexpr std::size_t kMaxAges = 4;  // chips: more would cover the curves

bool anyFinite(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// What these runs did not measure is a gap without a mark, in a strip of ratios also for the others: such a
/// point has no place on the axis either.
void leaveGaps(Figure& figure, const std::set<int>& runs) {
    if (runs.empty()) return;
    for (std::size_t p = 0; p < figure.plots.size(); ++p) {
        const bool strip = p > 0 && !figure.side_by_side;
        for (Curve& curve : figure.plots[p].curves)
            for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i)
                if (std::isnan(curve.y[i]) && (strip || runs.count(curve.role.run) > 0)) curve.x[i] = kNaN;
        for (Stems& stems : figure.plots[p].stems) {
            if (runs.count(stems.role.run) == 0) continue;
            Stems kept = stems;
            kept.x.clear(), kept.y.clear();
            for (std::size_t i = 0; i < std::min(stems.x.size(), stems.y.size()); ++i)
                if (!std::isnan(stems.y[i])) kept.x.push_back(stems.x[i]), kept.y.push_back(stems.y[i]);
            stems = std::move(kept);
        }
    }
}

/// Whether a plot has a value of a run to draw.
bool drawsAnything(const Plot& plot) {
    const auto finite = [](const auto& mark) { return anyFinite(mark.y); };
    return std::any_of(plot.curves.begin(), plot.curves.end(), finite) ||
           std::any_of(plot.stems.begin(), plot.stems.end(), finite) ||
           std::any_of(plot.bands.begin(), plot.bands.end(),
                       [](const Band& band) { return anyFinite(band.low); }) ||
           std::any_of(plot.maps.begin(), plot.maps.end(),
                       [](const HeatMap& map) { return anyFinite(map.raw); });
}

/// The shown step, if some run made it and lacks a sample there of one of these probes.
std::optional<std::int64_t> unmeasuredStep(const PanelInput& input, const std::vector<std::string>& probes) {
    if (input.exploring) return std::nullopt;
    for (const RunData* run : input.runs) {
        const std::int64_t last = lastStep(*run);
        if (last < 0 || run->unread || run->external()) continue;
        const std::int64_t step = followsNewest(input) ? last : input.step;
        if (step > last) continue;  // it has no such step
        for (const std::string& probe : probes) {
            const auto found = run->probes.find(probe);
            const bool never = found == run->probes.end() || found->second.empty();
            // Following a run in training, its next sample comes by itself.
            if (never || (!followsNewest(input) && !run->sample_of(probe, step))) return step;
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<ShownSample> shownSamples(const PanelInput& input, const std::string& probe) {
    std::vector<ShownSample> shown;
    const auto add = [&](const RunData* run, std::size_t index, LineKind kind, const ProbeResult* sample) {
        if (sample) shown.push_back({run, static_cast<int>(index), kind, sample});
    };
    // The newest sample if no step is given.
    const auto sampleOf = [&](const RunData* run, std::optional<std::int64_t> step) {
        return !run   ? nullptr
               : step ? run->sample_of(probe, *step)
                      : run->sample_at(probe, std::numeric_limits<std::int64_t>::max());
    };
    std::optional<std::int64_t> scrubbed;
    if (!followsNewest(input)) scrubbed = input.shownStep();
    const std::vector<bool> under = underComparison(input.runs);
    const auto shared = scrubbed ? scrubbed : newestShared(input, probe, under);
    for (std::size_t i = 0; i < input.ghosts.size(); ++i)
        add(input.ghosts[i], i, LineKind::Ghost, sampleOf(input.ghosts[i], scrubbed));
    for (std::size_t i = 0; i < input.previews.size(); ++i)
        add(input.previews[i], i, LineKind::Preview, sampleOf(input.previews[i], 0));
    for (std::size_t i = 0; i < input.runs.size(); ++i)
        add(input.runs[i], i, isDraft(input, i) ? LineKind::Draft : LineKind::Measured,
            // Of a file that is not read to its end a nearer one may follow.
            scrubbed && !input.runs[i]->unread ? nearestTo(*input.runs[i], probe, *scrubbed)
                                               : sampleOf(input.runs[i], under[i] ? shared : std::nullopt));
    return shown;
}

QString whyMissing(const PanelInput& input, std::size_t index, const std::string& probe) {
    const RunData& run = *input.runs[index];
    const auto found = run.probes.find(probe);
    if (run.unread) return QString("not read from the file yet");
    if ((found == run.probes.end() || found->second.empty()) && run.external())
        return QString("not recorded by the program that trained it");
    if (found == run.probes.end() || found->second.empty())
        return index < input.pending.size() && input.pending[index]
                   ? QString("being measured …")
                   : QString("not measured yet, M measures it at this step");
    const ProbeResult* sample = nearestTo(run, probe, input.shownStep());
    const auto empty = [](const NamedArray& a) { return a.data.empty(); };
    if (std::all_of(sample->arrays.begin(), sample->arrays.end(), empty))  // e.g. a stack without a norm
        return QString("nothing for %1 to measure").arg(QString::fromStdString(probe));
    return QString("its %1 sample lacks this quantity").arg(QString::fromStdString(probe));
}

const NamedArray* arrayOf(const ProbeResult& sample, const std::string& name, std::size_t rank) {
    const NamedArray* array = sample.find(name);
    if (!array || array->shape.size() != rank || array->data.empty()) return nullptr;
    std::size_t size = 1;
    for (const std::size_t extent : array->shape) size *= extent;
    return size == array->data.size() ? array : nullptr;
}

QString atStep(const std::vector<ShownSample>& samples) {
    constexpr qsizetype kMaxOther = 24;  // characters: a subtitle is one line
    QString text;
    QStringList others;
    std::int64_t first = -1, low = -1, high = -1;
    for (const auto& shown : samples) {
        if (!shown.own()) continue;
        const std::int64_t step = shown.sample->step;
        if (text.isEmpty()) {
            first = low = high = step;
            text = QString("at step %1").arg(first);
        } else if (step != first) {
            low = std::min(low, step), high = std::max(high, step);
            others << QString("%1: %2").arg(nameOf(*shown.run)).arg(step);
        }
    }
    if (others.isEmpty()) return text;
    const QString other = others.join(", ");
    // The hover has the step of each.
    return other.size() > kMaxOther ? QString("at steps %1 to %2").arg(low).arg(high)
                                    : text + " (" + other + ')';
}

void nameSteps(Figure& figure, const std::vector<ShownSample>& samples) {
    const auto name = [&](auto& mark) {
        if (mark.step || mark.role.kind != Role::Kind::Run) return;
        for (const ShownSample& shown : samples)
            if (shown.own() && shown.index == mark.role.run) mark.step = shown.sample->step;
    };
    for (Plot& plot : figure.plots) {
        if (plot.x.label == "step") continue;  // there the x axis shows it
        for (Curve& curve : plot.curves)
            if (curve.kind != LineKind::Ghost && curve.kind != LineKind::Preview) name(curve);
        for (Band& band : plot.bands) name(band);
        for (Stems& stems : plot.stems) name(stems);
        for (HeatMap& map : plot.maps) name(map);
    }
}

void markAges(Figure& figure, const PanelInput& input, const PanelInfo& panel) {
    if (panel.draws_steps) return;
    if (figure.plots.empty()) figure.unmeasured = unmeasuredStep(input, panel.probes);
    if (input.exploring || followsNewest(input)) return;
    const std::int64_t asked = input.step;
    std::map<int, std::int64_t> sampled;  // by run, the step of what is drawn of it
    const auto eachMark = [&](const auto& visit) {
        for (Plot& plot : figure.plots) {
            for (Curve& curve : plot.curves)
                if (curve.kind != LineKind::Ghost && curve.kind != LineKind::Preview) visit(curve);
            for (Band& band : plot.bands) visit(band);
            for (Stems& stems : plot.stems) visit(stems);
            for (HeatMap& map : plot.maps) visit(map);
        }
    };
    eachMark([&](const auto& mark) {
        if (mark.role.kind == Role::Kind::Run && mark.step) sampled.emplace(mark.role.run, *mark.step);
    });
    std::erase_if(sampled, [&](const auto& entry) { return entry.second == asked; });
    if (sampled.empty()) return;
    // A bound has no step of its own: it is of its run's sample.
    eachMark([&](auto& mark) {
        if (mark.role.kind == Role::Kind::Run && sampled.count(mark.role.run) > 0) mark.aged = true;
    });
    const auto names = static_cast<std::size_t>(figure.run_names.size());
    const bool by_run = names == input.runs.size();  // else by group
    QStringList texts;
    for (const auto& [run, step] : sampled)
        texts << ageText(step, asked, by_run ? input.runs[static_cast<std::size_t>(run)] : nullptr);
    auto& chips = figure.plots.front().chips;
    const bool same = texts.count(texts.front()) == texts.size();
    if (same && (sampled.size() == names || sampled.size() > kMaxAges)) {
        chips.push_back({Chip::Edge::BottomLeft, texts.front(), {}});
    } else if (sampled.size() > kMaxAges) {
        chips.push_back({Chip::Edge::BottomLeft, "of other steps, named by the read-out", {}});
    } else {
        qsizetype i = 0;
        for (const auto& [run, step] : sampled)
            chips.push_back(
                {Chip::Edge::BottomLeft,
                 (run < figure.run_names.size() ? figure.run_names[run] + ' ' : QString()) + texts[i++],
                 Role{Role::Kind::Run, run, 0}});
    }
    figure.unmeasured = unmeasuredStep(input, panel.probes);
    figure.summary += QString(". Not measured at step %1").arg(asked);
}

void nameBatch(Figure& figure, const PanelInput& input) {
    const auto external = std::count_if(input.runs.begin(), input.runs.end(),
                                        [](const RunData* run) { return run->external(); });
    if (external == 0) return;
    const bool all = external == static_cast<std::ptrdiff_t>(input.runs.size());
    const QString ours = QStringLiteral("held-out batch"),
                  theirs =
                      all ? QStringLiteral("training batch") : QStringLiteral("held-out or training batch");
    for (QString* text : {&figure.subtitle, &figure.formula, &figure.summary}) text->replace(ours, theirs);
}

void annotateSelection(Figure& figure, const PanelInput& input, const std::vector<std::string>& probes) {
    QStringList texts, lines;
    std::set<int> runs;
    for (const std::string& probe : probes)
        for (const ShownSample& shown : shownSamples(input, probe)) {
            const std::string only = shown.sample->only();
            if (only.empty()) continue;
            runs.insert(shown.index);
            if (!shown.own()) continue;
            const QString text = "only " + QString::fromStdString(only);
            const QString line = nameOf(*shown.run) + ": " + text;
            if (!texts.contains(text)) texts << text;
            if (!lines.contains(line)) lines << line;
        }
    leaveGaps(figure, runs);
    if (texts.isEmpty()) return;
    if (figure.plots.empty()) {
        figure.empty_text += '\n' + lines.join('\n');
        return;
    }
    const QString text = texts.join(" · ");
    figure.subtitle += (figure.subtitle.isEmpty() ? "" : " · ") + text;
    figure.formula += "\nmeasured places: " + lines.join("; ");
    if (std::any_of(figure.plots.begin(), figure.plots.end(), drawsAnything)) {
        figure.summary.replace(QStringLiteral("NaN"), QStringLiteral("not measured"));
        figure.summary +=
            (figure.summary.endsWith('.') ? " Measured places: " : ". Measured places: ") + lines.join("; ");
        return;
    }
    figure.plots.clear();
    figure.empty_text = lines.join('\n') + "\nnothing of these in this panel";
    figure.summary = figure.title + ": nothing to show. " + lines.join("; ");
}

void annotateMissing(Figure& figure, const PanelInput& input, const std::string& probe,
                     const std::vector<bool>& drawn) {
    nameSteps(figure, shownSamples(input, probe));
    const bool none = std::find(drawn.begin(), drawn.end(), true) == drawn.end();
    QStringList reasons;
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        if (i < drawn.size() && drawn[i]) continue;
        const QString text = nameOf(*input.runs[i]) + ": " + whyMissing(input, i, probe);
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
