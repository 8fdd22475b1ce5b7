// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/findings.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/gallery/cells.h"
#include "core/session/session.h"
#include "core/sweep/statistics/scatter.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace normscope {

namespace {

using Effect = GalleryMeasure::Effect;
using Side = GalleryMeasure::Side;

/// Where an interval lies; a point counts as both of its ends.
GalleryVerdict verdict_of(const GalleryMeasure& measure, const Interval& effect) {
    if (std::isnan(effect.low) || std::isnan(effect.high)) return GalleryVerdict::NotMeasured;
    if (measure.side == Side::Near) {
        const double slack = measure.tolerance * std::abs(measure.limit);
        const double low = measure.limit - slack, high = measure.limit + slack;
        if (effect.low >= low && effect.high <= high) return GalleryVerdict::AsPaper;
        return effect.high < low || effect.low > high ? GalleryVerdict::Opposite : GalleryVerdict::NotSeen;
    }
    const bool ratio = measure.effect == Effect::Ratio;
    const double least = ratio ? measure.limit / (1 + measure.interest) : measure.limit - measure.interest,
                 most = ratio ? measure.limit * (1 + measure.interest) : measure.limit + measure.interest;
    if (effect.low > least && effect.high < most) return GalleryVerdict::Smaller;
    const bool above = effect.low > measure.limit, below = effect.high < measure.limit;
    if (!above && !below) return GalleryVerdict::NotSeen;
    return above == (measure.side == Side::Above) ? GalleryVerdict::AsPaper : GalleryVerdict::Opposite;
}

/// "same", "smaller", "larger": the size of the effect, its distance from the limit where that is not 0.
std::string order_of(const GalleryMeasure& measure, double ours) {
    const auto size = [&](double effect) {
        return measure.effect == Effect::Ratio ? std::abs(std::log(effect)) : std::abs(effect);
    };
    const double ratio = size(ours) / size(*measure.paper);
    if (!std::isfinite(ratio)) return "";
    return ratio > std::sqrt(10.0) ? "larger" : ratio < 1 / std::sqrt(10.0) ? "smaller" : "same";
}

/// Shares of runs with an outcome: independent counts of each cell.
void measure_shares(const GalleryMeasure& measure, const Cells& cells,
                    const std::vector<std::uint64_t>& seeds, GalleryFinding& finding) {
    std::size_t count = 0, total = 0, other_count = 0, other_total = 0;
    for (const std::uint64_t seed : seeds) {
        if (const auto value = cells.value(measure.of, measure.quantity, seed)) {
            ++total;
            count += *value > 0 ? 1 : 0;
        }
        if (measure.effect == Effect::Value) continue;
        if (const auto value = cells.value(measure.against, measure.against_quantity, seed)) {
            ++other_total;
            other_count += *value > 0 ? 1 : 0;
        }
    }
    const bool single = measure.effect == Effect::Value;
    finding.seeds = single ? total : std::min(total, other_total);
    if (finding.seeds == 0) return;
    finding.effect = single ? share_interval(count, total)
                            : share_difference_interval(count, total, other_count, other_total);
}

/// Whether the values of a measure are ratios, of which the logarithm is averaged.
bool is_ratio(const GalleryMeasure& measure) {
    if (measure.effect != Effect::Value) return measure.effect == Effect::Ratio;
    const GalleryQuantity& quantity = measure.quantity;
    return quantity.kind == GalleryQuantity::Kind::Probe &&
           (quantity.when == GalleryQuantity::When::LastOverFirst ||
            quantity.scalar.over == SweepScalar::Over::FirstOverLast);
}

/// "an arm did not learn: stack.scheme=post"; empty where both did, or where it is not required.
std::string arm_that_failed(const GalleryMeasure& measure, const Cells& cells) {
    if (!measure.arms_learn) return {};
    std::vector<const GalleryCell*> arms{&measure.of};
    if (measure.effect != Effect::Value) arms.push_back(&measure.against);
    for (const GalleryCell* arm : arms) {
        if (cells.learned(*arm).value_or(true)) continue;
        const std::string text = cell_text(*arm);
        return "an arm did not learn more than token pairs" + (text.empty() ? text : ": " + text);
    }
    return {};
}

/// "optimizer.lr=0.01 of stack.scheme=post is at the edge of its grid"; empty where no arm's choice is.
std::string edge_of(const GalleryMeasure& measure, const Cells& cells) {
    std::string text;
    for (const GalleryCell* arm : {&measure.of, &measure.against}) {
        const ChosenValues* chosen = cells.chosen(*arm);
        if (!chosen || (arm == &measure.against && measure.effect == Effect::Value)) continue;
        for (const std::string& key : chosen->at_edge) {
            const std::string name = cell_text(*arm);
            text += (text.empty() ? "" : "; ") + key + (name.empty() ? "" : " of " + name);
        }
    }
    return text.empty() ? text : "chosen at the edge of its grid: " + text;
}

/// The effect of every seed that has one. A ratio is its logarithm.
void measure_effects(const GalleryMeasure& measure, const Cells& cells,
                     const std::vector<std::uint64_t>& seeds, GalleryFinding& finding) {
    std::vector<double> effects;
    std::size_t infinite = 0, signless = 0;
    for (const std::uint64_t seed : seeds) {
        const auto value = cells.value(measure.of, measure.quantity, seed);
        const auto against = measure.effect == Effect::Value
                                 ? std::optional(0.0)
                                 : cells.value(measure.against, measure.against_quantity, seed);
        if (!value || !against) continue;
        double effect = *value - *against;
        if (measure.effect == Effect::Value && is_ratio(measure)) {
            if (!(*value > 0)) {
                ++signless;
                continue;
            }
            effect = std::log(*value);
        }
        if (measure.effect == Effect::Ratio) {
            if (!(*value > 0) || !(*against > 0)) {
                ++signless;
                continue;
            }
            effect = std::log(*value / *against);
        }
        if (std::isfinite(effect))
            effects.push_back(effect);
        else
            ++infinite;
    }
    finding.seeds = effects.size();
    if (infinite > 0) finding.note = "not finite in " + std::to_string(infinite) + " seeds";
    if (signless > 0) finding.note = "no ratio in " + std::to_string(signless) + " seeds: not above 0";
    if (infinite > 0 || signless > 0 || effects.empty()) return;
    finding.effect = student_interval(effects);
    if (is_ratio(measure))
        finding.effect = {std::exp(finding.effect.mean), std::exp(finding.effect.low),
                          std::exp(finding.effect.high)};
}

/// Whether every seed that has ended in both cells had the same batches in both, where that is required.
bool same_batches(const GalleryMeasure& measure, const Cells& cells) {
    if (!measure.same_batches) return true;
    GalleryQuantity batches;
    batches.kind = GalleryQuantity::Kind::Batches;
    return std::all_of(cells.seeds().begin(), cells.seeds().end(), [&](std::uint64_t seed) {
        const auto of = cells.value(measure.of, measure.quantity, seed),
                   against = cells.value(measure.against, measure.against_quantity, seed);
        const auto mine = cells.value(measure.of, batches, seed),
                   theirs = cells.value(measure.against, batches, seed);
        return !of || !against || (mine && theirs && *mine == *theirs);
    });
}

/// The points of all cells and seeds.
void measure_scatter(const GalleryMeasure& measure, const Cells& cells, GalleryFinding& finding) {
    std::vector<ScatterPoint> points;
    std::size_t unsound = 0;
    for (const std::uint64_t seed : cells.seeds()) {
        const std::size_t before = points.size();
        for (const GalleryCell& cell : cells.all())
            for (const GalleryMeasure::Points& pair : measure.points) {
                const auto x = cells.value(cell, pair.x, seed), y = cells.value(cell, pair.y, seed);
                if (!x || !y) continue;
                const bool sound = *x > 0 && *y > 0 && std::isfinite(*x) && std::isfinite(*y);
                if (sound)
                    points.push_back({pair.times * *x, *y, seed});
                else
                    ++unsound;
            }
        finding.seeds += points.size() > before;
    }
    if (unsound > 0) finding.note = "no logarithm of " + std::to_string(unsound) + " points";
    if (unsound == 0 && !points.empty()) finding.effect = scatter_interval(points, measure.statistic);
}

std::string signed_number(double value, bool with_sign) {
    return (with_sign && value > 0 ? "+" : "") + number_text(value, 3);
}

}  // namespace

const char* gallery_verdict_text(GalleryVerdict verdict) {
    switch (verdict) {
        case GalleryVerdict::AsPaper:
            return "as the paper";
        case GalleryVerdict::Opposite:
            return "opposite";
        case GalleryVerdict::NotSeen:
            return "not seen";
        case GalleryVerdict::Smaller:
            return "smaller than of interest";
        case GalleryVerdict::CannotTell:
            return "cannot tell";
        case GalleryVerdict::NotMeasured:
            break;
    }
    return "not measured";
}

namespace {

std::vector<GalleryFinding> findings_of(const GalleryEntry& entry, const Cells& cells) {
    std::vector<GalleryFinding> findings;
    for (const GalleryMeasure& measure : entry.measures) {
        GalleryFinding finding;
        finding.of_seeds = cells.seeds().size();
        finding.effect = {std::nan(""), std::nan(""), std::nan("")};
        if (measure.effect == Effect::Scatter)
            measure_scatter(measure, cells, finding);
        else if (!same_batches(measure, cells))
            finding.note = "the arms had other batches";
        else if (measure.quantity.is_share())
            measure_shares(measure, cells, cells.seeds(), finding);
        else
            measure_effects(measure, cells, cells.seeds(), finding);
        finding.verdict = verdict_of(measure, finding.effect);
        if (const std::string failed = arm_that_failed(measure, cells);
            !failed.empty() && finding.verdict != GalleryVerdict::NotMeasured) {
            finding.verdict = GalleryVerdict::CannotTell;
            finding.note = failed;
        }
        if (finding.verdict == GalleryVerdict::AsPaper && measure.paper)
            finding.order = order_of(measure, finding.effect.mean);
        if (finding.verdict == GalleryVerdict::NotMeasured && finding.note.empty())
            finding.note = std::to_string(finding.seeds) + " of " + std::to_string(finding.of_seeds) +
                           " seeds have a value; an interval needs two";
        if (const std::string edge = edge_of(measure, cells); !edge.empty())
            finding.note += (finding.note.empty() ? "" : "; ") + edge;
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace

std::vector<GalleryFinding> gallery_findings(const GalleryEntry& entry,
                                             const std::map<std::size_t, GalleryValues>& values,
                                             const std::vector<SweepRow>& rows) {
    return findings_of(entry, Cells(entry, values, rows));
}

GalleryResult read_gallery_result(const GalleryEntry& entry, const std::string& folder,
                                  const std::function<void(const std::function<void()>&)>& files) {
    GalleryResult result;
    result.total = entry.sweep.trained_runs();
    std::map<std::size_t, GalleryValues> values;
    std::map<std::size_t, std::vector<LeadScan>> scans;
    std::vector<SweepRow> rows;
    if (std::filesystem::exists(folder + "/sweep.json")) {
        SweepResults sweep = read_sweep(folder);
        if (const std::string difference = sweep_difference(sweep.spec, entry.sweep); !difference.empty())
            throw InputError(folder, "holds another sweep: " + difference, "a folder of this entry's sweep");
        for (const SweepRow& row : sweep.rows) {
            if (!is_result(row.state)) continue;
            ++result.ended;
            const std::string path = folder + "/" + sweep.runs[row.run].recording;
            Session session;
            files([&] { session = open_session(path); });
            if (session.runs.size() != 1) throw InputError(path, "holds another number of runs", "one");
            values[row.run] = gallery_values(entry, session.runs.front(), row);
            scans[row.run] = lead_scans(entry, session.runs.front());
        }
        rows = std::move(sweep.rows);
    }
    const Cells cells(entry, values, rows);
    result.findings = findings_of(entry, cells);
    result.measured = measure_values(entry, cells, scans);
    for (const GalleryCell& cell : cells.all()) result.arms.push_back(cells.arm(cell));
    return result;
}

std::string gallery_effect_text(const GalleryMeasure& measure, const GalleryFinding& finding) {
    if (std::isnan(finding.effect.mean)) return finding.note;
    const bool difference = measure.effect == Effect::Difference;
    std::string text = signed_number(finding.effect.mean, difference);
    if (!measure.unit.empty()) text += " " + measure.unit;
    if (!std::isnan(finding.effect.low))
        text += " [" + signed_number(finding.effect.low, difference) + ", " +
                signed_number(finding.effect.high, difference) + "]";
    text += ", " + std::to_string(finding.seeds) + (finding.seeds == 1 ? " seed" : " seeds");
    return finding.note.empty() ? text : text + "; " + finding.note;
}

std::string gallery_paper_text(const GalleryMeasure& measure) {
    const bool difference = measure.effect == Effect::Difference;
    static constexpr const char* kSides[] = {"> ", "< ", "≈ "};
    std::string text = kSides[static_cast<int>(measure.side)] + number_text(measure.limit, 3);
    if (measure.side == Side::Near) text += " (± " + number_text(100 * measure.tolerance, 2) + " %)";
    if (measure.paper) text += ", " + signed_number(*measure.paper, difference);
    if (!measure.unit.empty()) text += " " + measure.unit;
    return text;
}

}  // namespace normscope
