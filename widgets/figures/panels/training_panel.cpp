// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/training_panel.h"

#include "core/session/outline.h"
#include "core/train/verdict.h"
#include "widgets/figures/parts/healthy_range.h"
#include "widgets/figures/parts/knob_flags.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/recipe_facts.h"
#include "widgets/figures/runs/fork_origin.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr double kStallShare = 1 - Verdict::kUnigramShare;  // a stalled loss stays within it of H₁, or above

struct TrainingQuantity {
    QString name, unit, formula;
    Scale scale = Scale::Linear;
};

TrainingQuantity trainingQuantity(const std::string& id) {
    if (id == "loss")
        return {"loss", "nat", "mean cross-entropy of the step's batch, before the update; not smoothed"};
    if (id == "grad_norm")
        return {"gradient norm", "", "‖∂L/∂W‖₂ over all parameters, before clipping", Scale::Log};
    if (id == "val_accuracy")
        return {"accuracy", "",
                "share of 512 held-out images whose class has the largest logit; the same images "
                "at every step"};
    if (id == "lr") return {"learning rate", "", "as the schedule gives it"};
    if (id == "temperature") return {"softmax temperature τ", "", "scores are q·k / (τ·√d_h)"};
    return {"throughput", "tokens/s", "tokens of the batch / wall time of the step"};
}

struct Floor {
    const char* name;
    const char* brief;  ///< where several have one label
    double RunData::*value;
};

QString titleOf(const std::string& column) {
    if (column == "grad_norm") return "Gradient norm";
    if (column == "val_accuracy") return "Held-out accuracy";
    if (column == "lr") return "Learning rate";
    if (column == "temperature") return "Temperature";
    if (column == "tokens_per_s") return "Throughput";
    return "Loss";
}

constexpr Floor kFloors[] = {{"Uniform guess", "uniform", &RunData::ln_vocab},
                             {"Unigram entropy", "unigram", &RunData::unigram_entropy},
                             {"Token pairs", "pairs", &RunData::bigram_entropy},
                             {"Token triples", "triples", &RunData::trigram_entropy},
                             {"Entropy rate", "entropy rate", &RunData::entropy_rate}};

/// Lines that look like one, within 1 % of each other, have one label together, at the first of them.
void shareLabels(std::vector<ReferenceLine>& lines, const std::vector<QString>& briefs) {
    constexpr double kApart = 0.01;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].label.isEmpty()) continue;
        QStringList names{briefs[i]};
        double low = lines[i].value, high = lines[i].value;
        for (std::size_t k = i + 1; k < lines.size(); ++k) {
            const double value = lines[k].value;
            if (lines[k].label.isEmpty() ||
                std::max(high, value) - std::min(low, value) > kApart * std::abs(high))
                continue;
            low = std::min(low, value);
            high = std::max(high, value);
            names << briefs[k];
            lines[k].label.clear();
        }
        if (names.size() == 1) continue;
        QString text = names.join(QStringLiteral(", "));
        text[0] = text[0].toUpper();
        const QString from = lossText(low), to = lossText(high);
        lines[i].label = text + u' ' + (from == to ? from : from + QStringLiteral("–") + to);
    }
}

/// Each distinct floor once; with a run's name where the runs' sources differ.
void addFloors(Plot& plot, const PanelInput& input) {
    std::vector<ReferenceLine> lines;
    std::vector<QString> briefs;
    bool one_source = true;
    for (const Floor& floor : kFloors) {
        std::vector<std::pair<double, QString>> distinct;
        for (const RunData* run : input.runs) {
            const double value = run->*floor.value;
            const auto same = [value](const auto& entry) { return entry.first == value; };
            if (std::isfinite(value) && std::none_of(distinct.begin(), distinct.end(), same))
                distinct.emplace_back(value, nameOf(*run));
        }
        for (const auto& [value, run_name] : distinct) {
            const QString label = QString("%1 %2").arg(floor.name, lossText(value));
            lines.push_back(
                {Qt::Horizontal, value, distinct.size() == 1 ? label : label + " (" + run_name + ')', true});
            briefs.push_back(QString::fromUtf8(floor.brief));
        }
        one_source = one_source && distinct.size() < 2;
    }
    if (one_source) shareLabels(lines, briefs);
    plot.references.insert(plot.references.end(), lines.begin(), lines.end());
}

/// On a linear axis a loss that blew up would flatten every other curve.
bool dwarfsFloors(const Plot& plot) {
    constexpr double kBlownUp = 30;  // times the highest floor
    double floor = 0, highest = 0;
    for (const ReferenceLine& line : plot.references) floor = std::max(floor, line.value);
    for (const Curve& curve : plot.curves)
        for (const double loss : curve.y)
            if (std::isfinite(loss)) highest = std::max(highest, loss);
    return floor > 0 && highest > kBlownUp * floor;
}

EndMark endMark(const RunData& run) {
    if (run.outcome.state == RunState::Diverged)
        return {EndMark::Kind::Diverged, QString::fromStdString(run.outcome.text)};
    if (run.outcome.state == RunState::Collapsed)
        return {EndMark::Kind::Collapsed, QString("collapsed at step %1").arg(run.outcome.step)};
    if (run.outcome.state == RunState::Stalled) return {EndMark::Kind::Stalled, "stalled"};
    return {};
}

/// A point at the least and one at the largest value of each block of steps, up to the rows of an outline: no
/// spike is lost.
void addOverview(Curve& curve, const StepOverview& overview, const std::string& column, std::int64_t end) {
    const auto found = std::find(overview.names.begin(), overview.names.end(), column);
    if (found == overview.names.end()) return;
    const auto at = static_cast<std::size_t>(found - overview.names.begin());
    const auto add = [&](std::int64_t step, double value) {
        curve.x.push_back(double(step));
        curve.y.push_back(value);
    };
    for (std::size_t i = 0; i < overview.blocks() && overview.step[i] < end; ++i) {
        add(overview.step[i], overview.low[at][i]);
        if (overview.high[at][i] > overview.low[at][i]) add(overview.step[i], overview.high[at][i]);
    }
}

Curve curveOf(const RunData& run, int index, const std::string& column) {
    Curve curve;
    curve.name = nameOf(run);
    curve.role = {Role::Kind::Run, index, 0};
    if (const auto* values = run.steps.find(column)) {
        if (run.unread && run.unread->overview && run.steps.rows() > 0)
            addOverview(curve, *run.unread->overview, column, run.steps.step.front());
        curve.x.insert(curve.x.end(), run.steps.step.begin(), run.steps.step.end());
        curve.y.insert(curve.y.end(), values->begin(), values->end());
    }
    return curve;
}

/// Only the steps at which the column was measured.
void keepMeasured(Curve& curve) {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < curve.y.size(); ++i)
        if (!std::isnan(curve.y[i])) {
            x.push_back(curve.x[i]);
            y.push_back(curve.y[i]);
        }
    curve.x = std::move(x);
    curve.y = std::move(y);
}

/// The held-out losses as dots: a line between distant points would look like a second training loss.
Curve validationOf(const RunData& run, int index) {
    Curve taken = curveOf(run, index, "val_loss");
    taken.name += " held-out";
    taken.markers = true;
    taken.line = false;
    taken.label_at_end = false;
    keepMeasured(taken);
    return taken;
}

/// The accuracy of a guess, 1/classes, once for each number of classes.
void addChance(Plot& plot, const PanelInput& input) {
    std::vector<double> drawn;
    for (const RunData* run : input.runs) {
        if (!run->steps.find("val_accuracy")) continue;
        const double chance = std::exp(-run->ln_vocab);
        if (std::find(drawn.begin(), drawn.end(), chance) != drawn.end()) continue;
        drawn.push_back(chance);
        plot.references.push_back(
            {Qt::Horizontal, chance, QString("Guess %1").arg(numberText(chance, 2)), true});
    }
}

/// What a fork has from its parent is the parent's curve: its own begins at the last point of both.
void beginAtFork(Curve& curve, const std::optional<ForkOrigin>& origin) {
    if (!origin) return;
    curve.branch = Branch{double(origin->last_shared), origin->text};
    if (!origin->parent_drawn) return;
    if (curve.x.empty()) return;
    const auto own = std::lower_bound(curve.x.begin(), curve.x.end() - 1, curve.branch->x) - curve.x.begin();
    curve.x.erase(curve.x.begin(), curve.x.begin() + own);
    curve.y.erase(curve.y.begin(), curve.y.begin() + own);
}

/// Before the first step no curve sets the range of the axes.
void rangeBeforeTraining(Plot& plot, const PanelInput& input) {
    std::int64_t steps = 1;
    for (const RunData* run : input.runs) steps = std::max(steps, recipeFacts(run->recipe).steps.value_or(1));
    plot.x.range = {0.0, double(steps)};
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const ReferenceLine& floor : plot.references) {
        low = std::min(low, floor.value);
        high = std::max(high, floor.value);
    }
    if (low <= high) plot.y.range = {0.9 * low, 1.1 * high};
    if (!input.hint.isEmpty()) plot.chips.push_back({Chip::Edge::Middle, input.hint, {}});
}

/// The mean of the last `steps` values at each point; none where they are fewer or not all are finite.
Curve smoothed(const Curve& raw, int steps) {
    Curve mean;
    mean.name = QString("%1, mean of %2 steps").arg(raw.name).arg(steps);
    mean.role = raw.role;
    mean.label_at_end = false;
    const auto window = static_cast<std::size_t>(steps);
    double sum = 0;
    std::size_t finite = 0;  // values in a row, up to here
    for (std::size_t i = 0; i < raw.y.size(); ++i) {
        if (!std::isfinite(raw.y[i])) {
            sum = 0;
            finite = 0;
            continue;
        }
        sum += raw.y[i];
        if (++finite > window) sum -= raw.y[i - window];
        if (finite < window) continue;
        mean.x.push_back(raw.x[i]);
        mean.y.push_back(sum / steps);
    }
    return mean;
}

int smoothingOf(const std::string& value) {
    return value == "mean_20" ? 20 : value == "mean_100" ? 100 : 0;
}

/// The last finite value and its step.
QString described(const Curve& curve, const EndMark& end) {
    for (std::size_t i = curve.y.size(); i-- > 0;)
        if (std::isfinite(curve.y[i])) {
            const QString text = QString("%1 %2 at step %3")
                                     .arg(curve.name, numberText(curve.y[i], 3))
                                     .arg(std::int64_t(curve.x[i]));
            return end.kind == EndMark::Kind::None       ? text
                   : end.kind == EndMark::Kind::Diverged ? text + ", diverged: " + end.label
                                                         : text + ", " + end.label;
        }
    return curve.name + ": no finite value";
}

}  // namespace

PanelInfo trainingPanel() {
    return {
        "training",
        "Loss",
        {},
        {{"quantity", "Quantity", {"loss", "val_accuracy", "grad_norm", "lr", "temperature", "tokens_per_s"}},
         {"smooth", "Smoothing, over the raw line", {"off", "mean_20", "mean_100"}},
         {"validation", "Held-out", {"on", "off"}},
         {"knobs", "Knob changes", {"on", "off"}}},
        &buildTraining,
        true,
        true};
}

Figure buildTraining(const PanelInput& input) {
    const PanelInfo panel = trainingPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& column = options.at("quantity");
    const bool loss = column == "loss", accuracy = column == "val_accuracy";
    const TrainingQuantity quantity = trainingQuantity(column);

    Figure figure = startFigure(panel);
    figure.title = titleOf(column);
    figure.quantity = quantity.name;
    figure.unit = quantity.unit;
    figure.quantity_in_header = true;
    figure.formula = quantity.formula;
    const int smoothing = smoothingOf(options.at("smooth"));
    if (smoothing > 0)
        figure.formula +=
            QString("\nline at full strength: mean of the last %1 steps; the raw line stays").arg(smoothing);
    if (loss) {
        figure.formula +=
            "\nfloors: uniform guess ln V, unigram entropy H₁ = −Σ p·ln p over single tokens, entropy rate "
            "of "
            "the source";
        figure.source = "Emadi, Section 7 (training dynamics)";
    }
    if (input.runs.empty()) {
        figure.empty_text = "No run to show";
        figure.summary = figure.title + ": nothing to show";
        return figure;
    }

    Plot plot;
    QStringList parts, missing;
    double last_step = 0;
    const auto origins = forkOrigins(input.runs, column);
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        const RunData& run = *input.runs[i];
        Curve curve = curveOf(run, int(i), column);
        if (accuracy) keepMeasured(curve);
        if (curve.y.empty()) {
            const bool of_text = accuracy && !run.steps.find(column);
            missing << nameOf(run) + (of_text ? ": no accuracy, its data are text" : ": no step taken yet");
            continue;
        }
        beginAtFork(curve, origins[i]);
        if (options.at("knobs") == "on") {
            const bool cut = origins[i] && origins[i]->parent_drawn;
            addKnobFlags(plot, run, int(i), cut ? curve.branch->x + 1 : 0);
        }
        if (loss) {
            curve.end = endMark(run);
            const double floor = run.unigram_entropy;
            if (curve.end.kind == EndMark::Kind::Stalled && std::isfinite(floor))
                plot.plateaus.push_back(
                    {floor * (1 - kStallShare), floor * (1 + kStallShare), "", curve.role});
        }
        last_step = std::max(last_step, curve.x.back());
        if (loss) curve.end_value = lossText(curve.y.back());
        curve.markers = accuracy || curve.x.size() == 1;  // one step has no line
        if (accuracy) curve.end_value = numberText(curve.y.back(), 3);
        parts << described(curve, curve.end);
        Curve mean = smoothing > 0 ? smoothed(curve, smoothing) : Curve{};
        curve.aged = !mean.x.empty();
        plot.curves.push_back(std::move(curve));
        if (!mean.x.empty()) plot.curves.push_back(std::move(mean));
        if (loss && options.at("validation") == "on")
            if (Curve held_out = validationOf(run, int(i)); !held_out.x.empty()) {
                beginAtFork(held_out, origins[i]);
                held_out.branch.reset();  // one ring a run
                plot.curves.push_back(std::move(held_out));
            }
    }
    if (!plot.curves.empty()) addHealthySteps(plot, input, column);
    plot.x.label = "step";
    plot.x.integers = true;
    plot.x.scale = Scale::Log1p;
    plot.y.label = quantity.name;
    plot.y.unit = quantity.unit;
    plot.y.scale = quantity.scale;
    if (loss) addFloors(plot, input);
    if (accuracy) addChance(plot, input);
    if (loss && dwarfsFloors(plot)) plot.y.scale = Scale::Log;
    if (plot.curves.empty()) {
        if (!loss) {
            figure.empty_text = accuracy ? missing.join("\n") : "No step taken yet";
            figure.summary = figure.title + (accuracy ? ": " + missing.join("; ") : ": no step taken yet");
            return figure;
        }
        figure.subtitle = "at step 0";
        rangeBeforeTraining(plot, input);
        for (const ReferenceLine& floor : plot.references)
            if (!floor.label.isEmpty()) parts << floor.label;
        figure.summary = "Before training; floors: " + parts.join(", ");
    } else {
        for (const QString& name : missing) plot.chips.push_back({Chip::Edge::BottomLeft, name, {}});
        if (!input.exploring && input.step >= 0 && double(input.step) < last_step)
            plot.references.push_back({Qt::Vertical, double(input.step), QString("step %1").arg(input.step)});
        figure.subtitle = QString("to step %1").arg(std::int64_t(last_step));
        figure.summary = QString("%1: %2").arg(quantity.name, parts.join("; "));
        if (const QString changes = describedFlags(plot); !changes.isEmpty())
            figure.summary += "; knob changes: " + changes;
    }
    figure.plots = {std::move(plot)};
    return figure;
}

}  // namespace normscope::widgets
