// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/statistics/scatter.h"
#include "core/sweep/sweep_results.h"
#include "core/sweep/sweep_scalar.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// A number that the gallery takes from one recorded run.
struct GalleryQuantity {
    enum class Kind {
        Loss,         ///< nat; SweepRow::final_loss
        HeldOutLoss,  ///< nat; SweepRow::held_out_loss
        Events,       ///< number of events of the kind `column`
        Outcome,      ///< 1 where the run ended in one of `states`, else 0
        Learned,  ///< 1 where the final loss is below the entropy of token pairs, else 0; none where unknown
        Tail,     ///< mean of the column `column` over the last `steps` steps
        Lead,     ///< `lead` of the series `ahead` over the series `scalar`, one sample a step
        One,      ///< 1: what is the same in every run
        Key,      ///< the number that the recipe has under `column`
        Batches,  ///< a hash of the batches of all steps: equal where two runs had the same data
        Probe     ///< `scalar`
    } kind = Kind::Loss;
    /// Of a probe's samples: the first, the last, the last ÷ the first, or the share of the way that an entry
    /// moved (the sum of its absolute changes) which lies in the first fifth of the steps, mean over entries.
    enum class When { First, Last, LastOverFirst, EarlyShare };

    std::vector<RunState> states;  ///< Outcome
    SweepScalar scalar;            ///< Probe, Lead
    When when = When::Last;        ///< Probe
    /// Probe: of the samples at these steps alone, both ends included.
    std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
    std::string column{};    ///< Tail, Key, Events
    std::int64_t steps = 0;  ///< Tail
    /// What lead.h measures: at the largest correlation the lag, the correlation, whether p ≤ 0.05 (a share
    /// of runs); of the spikes that follow the precision at K, its base rate, and their ratio.
    enum class LeadValue { Lag, Correlation, Significant, Precision, BaseRate, Lift } lead = LeadValue::Lag;
    SweepScalar ahead{};          ///< Lead
    std::size_t largest_lag = 0;  ///< Lead, samples
    bool operator==(const GalleryQuantity&) const = default;

    /// Whether it is yes or no in a run, and its effect a share of runs.
    bool is_share() const {
        return kind == Kind::Outcome || (kind == Kind::Lead && lead == LeadValue::Significant);
    }
    std::string title() const;  ///< "final loss", "growth: ma, last entry, last sample"
};

/// The words of GalleryQuantity::LeadValue.
inline constexpr const char* kLeadValues[] = {"lag",       "correlation", "significant",
                                              "precision", "base rate",   "lift"};

/// Values of the keys of a sweep's grid that are not chosen: which of its runs (an arm), all seeds that
/// judge.
using GalleryCell = std::map<std::string, std::string>;

/// One statement of a figure as a number: an effect, one value a seed, with the side of a limit on which the
/// paper has it.
struct GalleryMeasure {
    enum class Effect {
        Value,       ///< the quantity itself
        Difference,  ///< `quantity` in `of` − `against_quantity` in `against`, the same seed
        Ratio,       ///< `quantity` in `of` ÷ `against_quantity` in `against`, the same seed
        Scatter      ///< `statistic` of `points`, over all cells and seeds
    } effect = Effect::Value;
    enum class Side { Above, Below, Near };

    std::string name;  ///< "final loss, Post-LN − Pre-LN"
    GalleryQuantity quantity, against_quantity;
    GalleryCell of, against;  ///< `against` is empty for Effect::Value, both for Scatter
    /// Scatter: of every run one point of each pair, at (times·x, y).
    struct Points {
        GalleryQuantity x, y;
        double times = 1;
        bool operator==(const Points&) const = default;
    };
    std::vector<Points> points{};
    ScatterStatistic statistic = ScatterStatistic::Pearson;
    bool same_batches = false;  ///< the runs of both cells must have had the same batches, by their hash
    Side side = Side::Above;
    double limit = 0;             ///< the effect lies above or below it; Near: within `tolerance` of it
    double tolerance = 0;         ///< Near: relative to the limit; ours, since papers state none
    std::optional<double> paper;  ///< the effect's size in the paper, in the same unit
    std::string unit;             ///< "nat"; empty where dimensionless
    /// The smallest effect of interest: a distance from the limit, of a ratio a factor ÷ 1 − 1. An interval
    /// within it shows that there is none. 0: any.
    double interest = 0;
    /// Whether both cells must have learned more than token pairs for the measure to say anything: it is
    /// about stacks that train, and the paper's did.
    bool arms_learn = false;
};

/// A figure or table of one of the papers at the scale of a laboratory: a sweep, and what is measured on it.
struct GalleryEntry {
    std::string id;         ///< "e-fig1-loss": letter of the paper, place, what
    std::string title;      ///< "Final loss of Pre-LN and Post-LN"
    std::string place;      ///< "Figure 1, top left; Table 1"
    std::string statement;  ///< of the paper, in our words
    SweepSpec sweep;
    std::vector<GalleryMeasure> measures;
    bool own = false;  ///< of a file of the user, not of a paper

    const char* paper() const;  ///< "Emadi", "null-space note", "GPAS", "Baek", "Kan"; "own"
    /// The quantities of all measures, each once: what is read from a recording. Learned among them, where a
    /// measure needs it.
    std::vector<GalleryQuantity> quantities() const;
};

/// All entries (resources/gallery/NAME.json, compiled in), in the order of the papers. Parsed at the first
/// call. Any thread.
const std::vector<GalleryEntry>& gallery();
const GalleryEntry* find_gallery_entry(const std::string& id);  ///< nullptr when unknown

/// Reads one entry; InputError names what is missing, unknown or out of range, where, and what is allowed:
/// { "format": "normscope-gallery", "version": 1, "title", "place", "statement", "sweep": {"preset", "set":
/// ["KEY=VALUE", …], "grid": ["KEY=VALUES", …], "seeds": "42:46", "tied": ["KEY=VALUE: KEY=VALUE", …],
/// "choose": {"grid": ["KEY=VALUES", …], "seeds": "142:143"}}, "measures": [{"name", "effect": "value",
/// "difference", "ratio" or "scatter", "quantity", "against_quantity", "of": {KEY: VALUE}, "against": {KEY:
/// VALUE}, "is": ">", "<" or "≈", "than", "within", "paper", "interest", "arms"}] }. `interest` is 0.01 of a
/// difference of losses and 0.1 of a ratio where it is not given. `arms` is "learn", or "may fail" where
/// failing is the statement; of quantities of step 0 and of outcomes it is always that. The keys of `choose`
/// are further ones of the grid, of which each arm takes its own best value (SweepChoice); a cell does not
/// name them. A quantity is "loss", "held_out_loss", "spikes", "one", {"outcome": [STATE, …]}, {"key": KEY},
/// {"events": KIND}, {"tail": COLUMN, "steps": N}, {"lead": "lag" …, "ahead": SERIES, "of": SERIES, "within":
/// SAMPLES}, where a SERIES is {"probe", "array", "over"}, or {"probe", "array", "over": "largest" …, "when":
/// "last" …, "between": [STEP, STEP]}. `against` has the keys in which it differs from `of`; "batches":
/// "equal" requires that both had the same data. The effect "scatter" has "statistic" and "points": [{"x":
/// QUANTITY, "y": QUANTITY, "times": NUMBER}, …] in place of quantities and cells. The letter of a paper
/// begins the id, unless `own` is set: an entry of the user.
GalleryEntry read_gallery_entry(const std::string& id, const std::string& json_text, bool own = false);
/// One's own entry, a file NAME.json; NAME is its id and the name of its folder.
GalleryEntry load_gallery_entry(const std::string& path);

}  // namespace normscope
