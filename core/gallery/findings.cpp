// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/findings.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"
#include "core/session/session.h"
#include "core/sweep/sweep_choice.h"
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

/// The seeds that judge.
std::vector<std::uint64_t> scoring_seeds(const SweepSpec& sweep) {
    return {sweep.seeds.begin() + static_cast<std::ptrdiff_t>(sweep.choice.seeds), sweep.seeds.end()};
}

/// Whether a run belongs to a cell, whatever its seed and what is chosen.
bool is_of(const SweepSpec& sweep, const SweepRun& run, const GalleryCell& cell) {
    for (std::size_t axis = 0; axis < sweep.grid.size(); ++axis) {
        const auto wanted = cell.find(sweep.grid[axis].key);
        if (wanted != cell.end() && wanted->second != run.values[axis]) return false;
    }
    return true;
}

std::string cell_text(const GalleryCell& cell) {
    std::string text;
    for (const auto& [key, value] : cell) text += (text.empty() ? "" : ", ") + key + "=" + value;
    return text;
}

/// A quantity in a cell, by seed; nullopt where the run has not ended or has no such number.
class Cells {
  public:
    Cells(const GalleryEntry& entry, const std::map<std::size_t, GalleryValues>& values,
          const std::vector<SweepRow>& rows)
        : entry_(entry),
          values_(values),
          results_{entry.sweep, expand_sweep(entry.sweep), rows},
          chosen_(chosen_values(results_)),
          seeds_(scoring_seeds(entry.sweep)),
          quantities_(entry.quantities()) {}

    const std::vector<std::uint64_t>& seeds() const { return seeds_; }

    std::optional<double> value(const GalleryCell& cell, const GalleryQuantity& quantity,
                                std::uint64_t seed) const {
        const auto run = run_of(cell, seed);
        const auto found = run ? values_.find(*run) : values_.end();
        if (found == values_.end()) return std::nullopt;
        const auto at = std::find(quantities_.begin(), quantities_.end(), quantity) - quantities_.begin();
        return found->second.at(static_cast<std::size_t>(at));
    }
    /// What a cell chose; null without a choice and before it is made.
    const ChosenValues* chosen(const GalleryCell& cell) const {
        if (!chosen_) return nullptr;
        for (const ChosenValues& one : *chosen_) {
            const auto scored =
                std::find_if(results_.runs.begin(), results_.runs.end(), [&](const SweepRun& run) {
                    return is_of(entry_.sweep, run, cell) && is_scored(entry_.sweep, run, {one});
                });
            if (scored != results_.runs.end()) return &one;
        }
        return nullptr;
    }
    GalleryArm arm(const GalleryCell& cell) const {
        GalleryArm arm;
        arm.name = cell_text(cell);
        if (const ChosenValues* values = chosen(cell)) arm.chosen = chosen_text(entry_.sweep, *values);
        GalleryQuantity quantity;
        quantity.kind = GalleryQuantity::Kind::Learned;
        const bool asked = std::find(quantities_.begin(), quantities_.end(), quantity) != quantities_.end();
        std::vector<double> losses;
        for (const std::uint64_t seed : seeds_) {
            const auto run = run_of(cell, seed);
            const auto row = std::find_if(results_.rows.begin(), results_.rows.end(),
                                          [&](const SweepRow& one) { return run && one.run == *run; });
            const auto loss = row == results_.rows.end() ? std::nullopt : compared_loss(*row);
            if (!loss) continue;
            losses.push_back(*loss);
            if (const auto one = asked ? value(cell, quantity, seed) : std::nullopt) {
                arm.learned_known = true;
                arm.learned += *one > 0;
            }
        }
        arm.ended = losses.size();
        if (!losses.empty()) arm.loss = median(std::move(losses));
        return arm;
    }
    /// All combinations of the keys that are not chosen.
    std::vector<GalleryCell> all() const {
        std::vector<GalleryCell> cells;
        for (const SweepRun& run : results_.runs) {
            GalleryCell cell;
            for (std::size_t i = 0; i < entry_.sweep.grid.size(); ++i)
                if (const std::string& key = entry_.sweep.grid[i].key; !is_chosen(entry_.sweep, key))
                    cell[key] = run.values[i];
            if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(std::move(cell));
        }
        return cells;
    }
    /// Whether half of the runs of a cell or more learned; nullopt where that is unknown of all.
    std::optional<bool> learned(const GalleryCell& cell) const {
        GalleryQuantity quantity;
        quantity.kind = GalleryQuantity::Kind::Learned;
        int of = 0, count = 0;
        for (const std::uint64_t seed : seeds_)
            if (const auto one = value(cell, quantity, seed)) {
                ++of;
                count += *one > 0;
            }
        return of > 0 ? std::optional(2 * count >= of) : std::nullopt;
    }

  private:
    /// The run of a cell with a seed that judges, at what the cell chose; nullopt where there is none.
    std::optional<std::size_t> run_of(const GalleryCell& cell, std::uint64_t seed) const {
        const bool choosing = !entry_.sweep.choice.keys.empty();
        if (choosing && !chosen_) return std::nullopt;
        for (const SweepRun& run : results_.runs)
            if (run.seed == seed && is_of(entry_.sweep, run, cell) &&
                (!choosing || is_scored(entry_.sweep, run, *chosen_)))
                return run.index;
        return std::nullopt;
    }

    const GalleryEntry& entry_;
    const std::map<std::size_t, GalleryValues>& values_;
    SweepResults results_;
    std::optional<std::vector<ChosenValues>> chosen_;
    std::vector<std::uint64_t> seeds_;
    std::vector<GalleryQuantity> quantities_;
};

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
        if (measure.quantity.kind == GalleryQuantity::Kind::Outcome)
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
        }
        rows = std::move(sweep.rows);
    }
    const Cells cells(entry, values, rows);
    result.findings = findings_of(entry, cells);
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
