// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/grouped_figure.h"

#include "core/base/error.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace normscope::widgets {

namespace {

constexpr double kBandStrength = 0.18;

bool drawsFactors(const PanelInfo& panel, const PanelOptions& options) {
    const auto quantity = options.find("quantity");
    return panel.id == "gradients" && quantity != options.end() && quantity->second == "factors";
}

void checkPanel(const PanelInfo& panel, const PanelOptions& options) {
    std::string allowed;
    for (const PanelInfo& other : panels())
        if (other.groups) allowed += (allowed.empty() ? "" : ", ") + other.id;
    if (!panel.groups) throw InputError("panel " + panel.id, "is not drawn in groups of runs", allowed);
    if (drawsFactors(panel, options))
        throw InputError("panel gradients, option quantity", "'factors' is not drawn in groups of runs",
                         "hidden, tokens, scaled, params");
}

/// What one curve of each run of a group shows.
struct Series {
    std::size_t group = 0;
    QString what;  ///< the curve's name without that of its run: "", " held-out", "layer 3 · ffn"
    const Curve* first = nullptr;
    std::vector<const Curve*> curves = {};
};

class Grouper {
  public:
    Grouper(const PanelInput& input, const RunGroups& by, const GroupDrawing& drawing)
        : input_(input), by_(by), drawing_(drawing), group_of_(input.runs.size(), 0) {
        for (std::size_t g = 0; g < by.groups.size(); ++g)
            for (const std::size_t run : by.groups[g].members) group_of_[run] = g;
        fewer_.resize(by.groups.size());
    }

    Figure regroup(Figure figure) {
        std::erase_if(figure.plots, [](const Plot& plot) { return plot.is_ratio; });
        if (figure.plots.empty()) return figure;
        plot_per_run_ = figure.side_by_side;
        if (plot_per_run_) mergePlots(figure);
        step_ = commonStep(figure);
        for (Plot& plot : figure.plots) regroup(plot);
        addNotes(figure);
        restate(figure);
        figure.run_names.clear();
        for (const RunGroup& group : by_.groups) figure.run_names << nameIn(group);
        if (!plot_per_run_ && (drawing_.multiples || by_.groups.size() > kMaxGroupsInOnePlot)) {
            spreadOut(figure);
        } else if (!plot_per_run_ && drawing_.ratio) {
            if (auto strip = ratioStrip(figure.plots.front())) figure.plots.push_back(std::move(*strip));
        }
        return figure;
    }

  private:
    /// Groups of different sizes have theirs with their names.
    QString nameIn(const RunGroup& group) const {
        const bool same = std::all_of(by_.groups.begin(), by_.groups.end(),
                                      [&](const RunGroup& other) { return other.size() == group.size(); });
        return same ? group.name : QString("%1 ×%2").arg(group.name).arg(group.size());
    }

    std::size_t groupOf(const Role& role) const {
        return group_of_[static_cast<std::size_t>(std::clamp<int>(role.run, 0, int(group_of_.size()) - 1))];
    }

    /// A plot per run: those of a group become one.
    void mergePlots(Figure& figure) const {
        std::vector<Plot> merged(by_.groups.size());
        std::vector<bool> begun(by_.groups.size(), false);
        for (Plot& plot : figure.plots) {
            if (plot.curves.empty()) continue;
            const std::size_t g = groupOf(plot.curves.front().role);
            if (begun[g]) {
                std::move(plot.curves.begin(), plot.curves.end(), std::back_inserter(merged[g].curves));
            } else {
                merged[g] = std::move(plot);
                merged[g].heading = nameIn(by_.groups[g]);
                merged[g].heading_role = Role{Role::Kind::Run, int(g), 0};
                begun[g] = true;
            }
        }
        figure.plots.clear();
        for (std::size_t g = 0; g < merged.size(); ++g)
            if (begun[g]) figure.plots.push_back(std::move(merged[g]));
        figure.shared_axes = true;
    }

    static bool isOwn(const Curve& curve) {
        return curve.kind == LineKind::Measured || curve.kind == LineKind::Draft;
    }

    /// The step that most curves were measured at, the later of two.
    static std::optional<std::int64_t> commonStep(const Figure& figure) {
        std::map<std::int64_t, int> counts;
        for (const Plot& plot : figure.plots)
            for (const Curve& curve : plot.curves)
                if (isOwn(curve) && curve.step) ++counts[*curve.step];
        std::optional<std::int64_t> best;
        for (const auto& [step, count] : counts)
            if (!best || count >= counts[*best]) best = step;
        return best;
    }

    /// The name without the run's own, which differs between the runs of a group.
    QString whatOf(const Curve& curve) const {
        if (curve.role.kind != Role::Kind::Run) return curve.name;
        const QString run = nameOf(*input_.runs[std::size_t(std::max(0, curve.role.run))]);
        return curve.name.startsWith(run) ? curve.name.mid(run.size()) : curve.name;
    }

    std::vector<Series> seriesOf(const Plot& plot) const {
        std::vector<Series> all;
        for (const Curve& curve : plot.curves) {
            if (!isOwn(curve)) continue;
            const std::size_t g = groupOf(curve.role);
            const QString what = whatOf(curve);
            auto found = std::find_if(all.begin(), all.end(),
                                      [&](const Series& s) { return s.group == g && s.what == what; });
            if (found == all.end()) found = all.insert(all.end(), Series{g, what, &curve});
            found->curves.push_back(&curve);
        }
        // In the order of the groups, not of the runs.
        std::stable_sort(all.begin(), all.end(),
                         [](const Series& a, const Series& b) { return a.group < b.group; });
        return all;
    }

    /// Only curves of one step: the figure's, or, where the group has none of it, that of its newest sample.
    /// Returns that step.
    std::optional<std::int64_t> ofOneStep(Series& series) {
        std::optional<std::int64_t> own;
        for (const Curve* curve : series.curves)
            if (curve->step && (!own || *curve->step == step_ || (own != step_ && *curve->step > *own)))
                own = curve->step;
        std::erase_if(series.curves, [&](const Curve* curve) { return curve->step != own; });
        return own;
    }

    void regroup(Plot& plot) {
        std::vector<Curve> medians;
        std::vector<Band> bands;
        std::copy_if(plot.bands.begin(), plot.bands.end(), std::back_inserter(bands),
                     [](const Band& band) { return band.is_reference; });
        for (Series& series : seriesOf(plot)) {
            const RunGroup& group = by_.groups[series.group];
            const auto step = ofOneStep(series);
            const GroupCurve values = groupCurve(series.curves, drawing_.spread, plot.y.scale);
            Curve median = *series.first;
            const bool layer = median.role.kind == Role::Kind::Sequential;
            median.name = layer || plot_per_run_ ? series.what.trimmed() : nameIn(group) + series.what;
            if (step && step != step_) median.name += QString(" (step %1)").arg(*step);
            median.role.run = int(series.group);
            median.x = values.x;
            median.y = values.median;
            median.runs = values.runs;
            median.y_error.clear();
            median.end = {};
            if (!median.end_value.isEmpty() && !median.y.empty())
                median.end_value = lossText(median.y.back());
            if (series.curves.size() > 1) median.branch.reset();
            median.step = step;
            median.markers = !median.line || values.x.size() == 1;
            annotateFewer(series, plot, values);
            // Bands of many layers would cover each other.
            if (drawing_.spread != Spread::None && !layer && median.line) {
                Band band{median.name, median.role, values.x, values.low, values.high, kBandStrength, step};
                band.is_spread = true;
                bands.push_back(std::move(band));
            }
            medians.push_back(std::move(median));
        }
        plot.curves = std::move(medians);
        plot.bands = std::move(bands);
        std::erase_if(plot.chips, [](const Chip& chip) { return chip.role.has_value(); });
        std::erase_if(plot.chips, [&](const Chip& chip) { return namesARun(chip.text); });
        regroupMarks(plot);
        mergeFloors(plot);
    }

    bool namesARun(const QString& text) const {
        return std::any_of(input_.runs.begin(), input_.runs.end(),
                           [&](const RunData* run) { return text.startsWith(nameOf(*run) + ':'); });
    }

    void regroupMarks(Plot& plot) const {
        std::vector<FrameMark> marks;
        for (FrameMark mark : plot.frame_marks) {
            mark.role.run = int(groupOf(mark.role));
            const bool known = std::any_of(marks.begin(), marks.end(), [&](const FrameMark& other) {
                return other.x == mark.x && other.role.run == mark.role.run && other.glyph == mark.glyph;
            });
            if (!known) marks.push_back(mark);
        }
        plot.frame_marks = std::move(marks);
        std::vector<Flag> flags;
        for (Flag flag : plot.flags) {
            const std::size_t g = groupOf(flag.role);
            flag.role.run = int(g);
            flag.name = nameIn(by_.groups[g]);
            const bool known = std::any_of(flags.begin(), flags.end(), [&](const Flag& other) {
                return other.x == flag.x && other.role.run == flag.role.run && other.text() == flag.text();
            });
            if (!known) flags.push_back(flag);
        }
        plot.flags = std::move(flags);
        std::map<std::size_t, Plateau> plateaus;
        for (const Plateau& plateau : plot.plateaus) {
            const std::size_t g = groupOf(plateau.role);
            const auto [at, fresh] = plateaus.emplace(g, plateau);
            at->second.role.run = int(g);
            at->second.low = std::min(at->second.low, plateau.low);
            at->second.high = std::max(at->second.high, plateau.high);
        }
        // The same floor shaded for each group that stalled would only get darker.
        plot.plateaus.clear();
        if (plateaus.size() == 1) plot.plateaus.push_back(plateaus.begin()->second);
    }

    /// Labels "Unigram entropy 2.87 (Pre-LN)": one line a floor, at the median of the runs' values.
    static void mergeFloors(Plot& plot) {
        static const QRegularExpression number(QStringLiteral("^(.*) ([0-9.]+)( \\(.*\\))?$"));
        std::map<QString, std::vector<double>> floors;
        std::vector<ReferenceLine> lines;
        for (const ReferenceLine& line : plot.references) {
            const auto found = number.match(line.label);
            const QString name = found.hasMatch() ? found.captured(1) : line.label;
            if (line.orientation != Qt::Horizontal || line.label.isEmpty()) {
                lines.push_back(line);
                continue;
            }
            if (!floors.count(name)) lines.push_back({line.orientation, line.value, name, line.inside});
            floors[name].push_back(line.value);
        }
        for (ReferenceLine& line : lines) {
            const auto found = floors.find(line.label);
            if (line.orientation != Qt::Horizontal || found == floors.end()) continue;
            std::vector<double>& values = found->second;
            std::sort(values.begin(), values.end());
            line.value = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
        }
        plot.references = std::move(lines);
    }

    /// Where a group's curve is the median of fewer runs than it has.
    void annotateFewer(const Series& series, const Plot& plot, const GroupCurve& values) {
        if (!series.what.isEmpty() && !plot_per_run_) return;  // held-out points are taken when they are
        const int size = int(by_.groups[series.group].size());
        QString& text = fewer_[series.group];
        if (!text.isEmpty() || values.fewest() == size) return;
        const auto all_from_here = [&](std::size_t i) {
            return std::all_of(values.runs.begin() + std::ptrdiff_t(i), values.runs.end(),
                               [size](int n) { return n < size; });
        };
        std::size_t i = 0;
        while (i < values.runs.size() && values.runs[i] == size) ++i;
        const QString count = QString("%1 of %2 runs").arg(values.fewest()).arg(size);
        text = i == 0 && all_from_here(0) ? count
               : all_from_here(i)
                   ? QString("%1 from %2 %3 on").arg(count, plot.x.label, numberText(values.x[i]))
                   : QString("%1 at some %2s").arg(count, plot.x.label);
    }

    void addNotes(Figure& figure) const {
        const QString band =
            plot_per_run_ ? QString() : spreadText(drawing_.spread, figure.plots.front().y.scale);
        const QString members = by_.members();
        if (members != "1 run")
            figure.notes.push_back(
                {"Median of " + members + (band.isEmpty() ? QString() : "; band: " + band)});
        for (std::size_t g = 0; g < by_.groups.size(); ++g) {
            QStringList parts;
            if (const QString text = outcomeText(by_.groups[g]); !text.isEmpty()) parts << text;
            if (!fewer_[g].isEmpty()) parts << "drawn: " + fewer_[g];
            if (!drawn(figure, g)) parts << "not measured";
            if (!parts.isEmpty())
                figure.notes.push_back(
                    {by_.groups[g].name + ": " + parts.join("; "), Role{Role::Kind::Run, int(g), 0}});
        }
    }

    static bool drawn(const Figure& figure, std::size_t group) {
        for (const Plot& plot : figure.plots)
            for (const Curve& curve : plot.curves)
                if (curve.role.run == int(group)) return true;
        return false;
    }

    /// Subtitle and summary in terms of groups.
    void restate(Figure& figure) const {
        static const QRegularExpression others(
            QStringLiteral("^at steps? \\d+( to \\d+)?( \\(.*\\))?(?=$| · )"));
        if (step_) figure.subtitle.replace(others, QString("at step %1").arg(*step_));
        QStringList parts;
        for (const Curve& curve : figure.plots.front().curves) {
            if (curve.y.empty() || curve.role.kind != Role::Kind::Run || !curve.line) continue;
            parts
                << QString("%1 from %2 to %3").arg(curve.name, brief(curve.y.front()), brief(curve.y.back()));
        }
        for (const Note& note : figure.notes) parts << note.text;
        figure.summary =
            QString("%1 %2, %3: %4").arg(figure.title, figure.subtitle, by_.count(), parts.join("; "));
    }

    /// One plot becomes one a group, the medians of the others in grey.
    void spreadOut(Figure& figure) const {
        const Plot all = std::move(figure.plots.front());
        figure.plots.clear();
        figure.side_by_side = figure.shared_axes = true;
        for (std::size_t g = 0; g < by_.groups.size(); ++g) {
            Plot plot = all;
            plot.heading = nameIn(by_.groups[g]);
            plot.heading_role = Role{Role::Kind::Run, int(g), 0};
            const auto others = [&](const auto& mark) { return mark.role.run != int(g); };
            std::erase_if(plot.bands, others);
            std::erase_if(plot.flags, others);
            std::erase_if(plot.frame_marks, others);
            std::erase_if(plot.plateaus, others);
            std::erase_if(plot.curves, [&](const Curve& curve) { return others(curve) && !curve.line; });
            for (Curve& curve : plot.curves) {
                curve.label_at_end = false;
                if (others(curve)) curve.kind = LineKind::Context;
            }
            std::stable_partition(plot.curves.begin(), plot.curves.end(), others);
            figure.plots.push_back(std::move(plot));
        }
    }

    const PanelInput& input_;
    const RunGroups& by_;
    const GroupDrawing& drawing_;
    std::vector<std::size_t> group_of_;  ///< by run
    std::vector<QString> fewer_;         ///< by group
    bool plot_per_run_ = false;
    std::optional<std::int64_t> step_;
};

}  // namespace

bool isGroupable(const PanelInfo& panel, const PanelOptions& options) {
    return panel.groups && !drawsFactors(panel, options);
}

Figure groupedFigure(const PanelInfo& panel, const PanelInput& input, const RunGroups& groups,
                     const GroupDrawing& drawing) {
    checkPanel(panel, resolveOptions(panel, input.options));
    PanelInput members = withoutAxesOption(panel, input);
    if (panel.id == "growth") members.options["growth_class"] = "off";  // of single runs
    Figure figure = panel.build(members);
    if (input.runs.empty()) return figure;
    figure = Grouper(input, groups, drawing).regroup(std::move(figure));
    annotateSelection(figure, input, panel.probes);
    nameBatch(figure, input);
    markAges(figure, input, panel);
    return figure;
}

}  // namespace normscope::widgets
