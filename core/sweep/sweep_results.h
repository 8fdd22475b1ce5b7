// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "core/sweep/sweep_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The losses of a window of 20 steps are averaged, as the verdict does: a single batch decides nothing.
inline constexpr std::size_t kLossWindow = 20;

/// One run's results: a row of results.csv.
struct SweepRow {
    std::size_t run = 0;  ///< index of its SweepRun
    RunState state = RunState::Prepared;
    std::int64_t steps = 0;  ///< steps made
    /// Mean training loss of the last 20 steps, and the lowest mean of 20 in a row (of fewer in a shorter
    /// run), nat. Nullopt without a step.
    std::optional<double> final_loss, best_loss;
    /// The last held-out loss of the run (core/findings/held_out_loss.h), that of its last step where it made
    /// all. Nullopt where none was taken, after a divergence, whose last one is of the weights before it, and
    /// in a results.csv of an earlier version.
    std::optional<double> held_out_loss;
    std::optional<std::int64_t> diverged_at;  ///< the step, where state is diverged
    std::optional<double> seconds;            ///< measured: of the recorded steps and samples
    std::string recording;                    ///< SweepRun::recording; empty where the run failed before it
    bool operator==(const SweepRow&) const = default;
};

/// The final loss of a row in medians and comparisons, nat: infinite for a run that diverged or has none; a
/// failed run does not count.
std::optional<double> compared_loss(const SweepRow& row);

/// The row of a recorded run: a function of the recording alone.
SweepRow sweep_row(const SweepRun& run, const RunData& recorded);

/// The text of results.csv: the keys of the grid, seed, state, steps, final_loss, best_loss, held_out_loss,
/// diverged_at, seconds, recording; the rows in the order of the grid. Numbers have the digits that give back
/// the same double, seconds three decimals. All columns but `seconds` depend on the specification alone;
/// where `timed` is false, it is empty.
std::string results_csv(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                        const std::vector<SweepRow>& rows, bool timed);

/// The inverse; the rows in the order of the grid. Of earlier versions without the column held_out_loss, too.
/// Throws InputError with the line that is damaged, or that is no row of this sweep; `where` begins the
/// message.
std::vector<SweepRow> parse_results(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                                    const std::string& csv, const std::string& where);

/// A sweep's folder as a value: what sweep.json and results.csv hold, while it runs and after.
struct SweepResults {
    SweepSpec spec;
    std::vector<SweepRun> runs;
    std::vector<SweepRow> rows;  ///< of the runs that have ended, in the order of the grid
};

/// Reads a folder, no recording. Throws InputError.
SweepResults read_sweep(const std::string& folder);

/// The rows in results.csv of a folder; none where there is no such file. Throws InputError.
std::vector<SweepRow> read_results(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                                   const std::string& folder);

/// Throws InputError, naming the first difference, where a folder holds another sweep than the one in
/// `first`.
void require_same_sweep(const SweepSpec& spec, const std::string& folder, const std::string& first);

}  // namespace normscope
