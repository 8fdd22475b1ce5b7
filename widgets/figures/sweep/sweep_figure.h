// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"
#include "widgets/figures/sweep/sweep_slice.h"

#include <QString>
#include <optional>
#include <vector>

namespace normscope::widgets {

/// What the cells of a map show: the outcomes, a column of results.csv, or a scalar of the recordings'
/// probes.
enum class SweepValue { Outcome, FinalLoss, BestLoss, HeldOutLoss, DivergedAt, Steps, Seconds, Scalar };
inline constexpr SweepValue kSweepValues[] = {
    SweepValue::Outcome,    SweepValue::FinalLoss, SweepValue::BestLoss, SweepValue::HeldOutLoss,
    SweepValue::DivergedAt, SweepValue::Steps,     SweepValue::Seconds,  SweepValue::Scalar};
/// "final loss". Of Scalar, see titleOf().
QString sweepValueTitle(SweepValue value);
/// The same, and of the slice's scalar "growth: rms, largest".
QString titleOf(const SweepSlice& slice, SweepValue value);

/// Marked cells of a map, by row from above and column, both ends included.
struct SweepCells {
    std::size_t first_row = 0, first_column = 0, last_row = 0, last_column = 0;
};

/// The map of a slice: a row a value of the row's key, a column a value of the column's; in a cell the median
/// over the seeds, under it a glyph a run. A diverged run counts as an infinite loss: a cell whose median is
/// infinite is hatched. Failed runs do not count. The cell of a row with the lowest median final loss is
/// framed, and its value named at the right. `selected`: one cell is framed as selected.
Figure sweepMap(const SweepSlice& slice, SweepValue value,
                const std::optional<SweepCells>& selected = std::nullopt);

/// Final loss over the values of the column's key: the median of the seeds, a curve a row, with a band from
/// least to largest.
Figure sweepCurves(const SweepSlice& slice);

/// The runs of these cells, as indices of the whole sweep, row by row from above.
std::vector<std::size_t> runsIn(const SweepSlice& slice, const SweepCells& cells);

/// "Post-LN" for scheme post; a number as the map writes it; other values as they are.
QString sweepValueName(const SweepAxis& axis, std::size_t value);
/// The name of a key: "learning rate".
QString sweepKeyName(const std::string& key);

/// "1 of 3 stalled, 1 diverged"; "3 finished" where all are.
QString sweepOutcomes(const SweepCell& cell);

}  // namespace normscope::widgets
