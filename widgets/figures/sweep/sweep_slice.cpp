// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/sweep/sweep_slice.h"

#include <map>

namespace normscope::widgets {

SweepAxes defaultAxes(const SweepSpec& spec) {
    SweepAxes axes;
    axes.fixed.assign(spec.grid.size(), 0);
    if (spec.grid.empty()) return axes;
    axes.column = spec.grid.size() - 1;
    for (std::size_t key = 0; key < spec.grid.size(); ++key)
        if (spec.grid[key].key == "optimizer.lr") axes.column = key;
    for (std::size_t key = spec.grid.size(); key-- > 0;)
        if (key != *axes.column) axes.row = key;
    return axes;
}

std::vector<std::size_t> SweepSlice::runsOf(std::size_t row, std::size_t column) const {
    const std::size_t seeds = part.spec.seeds.size(), first = (row * columns + column) * seeds;
    std::vector<std::size_t> found;
    for (std::size_t i = first; i < first + seeds && i < runs.size(); ++i) found.push_back(runs[i]);
    return found;
}

SweepSlice sliceOf(const SweepResults& sweep, const SweepAxes& axes, const std::set<std::size_t>& training) {
    SweepSlice slice;
    slice.part.spec = {sweep.spec.recipe, {}, sweep.spec.seeds};
    const auto& grid = sweep.spec.grid;
    if (axes.row) {
        slice.rows = grid[*axes.row].values.size();
        slice.part.spec.grid.push_back(grid[*axes.row]);
    }
    if (axes.column) {
        slice.columns = grid[*axes.column].values.size();
        slice.part.spec.grid.push_back(grid[*axes.column]);
    }
    std::map<std::size_t, std::size_t> place;  // in the part, by the index in the sweep
    for (std::size_t row = 0; row < slice.rows; ++row)
        for (std::size_t column = 0; column < slice.columns; ++column)
            for (std::size_t seed = 0; seed < sweep.spec.seeds.size(); ++seed) {
                std::size_t index = 0;
                for (std::size_t key = 0; key < grid.size(); ++key) {
                    const std::size_t value = key == axes.row      ? row
                                              : key == axes.column ? column
                                                                   : axes.fixed[key];
                    index = index * grid[key].values.size() + value;
                }
                index = index * sweep.spec.seeds.size() + seed;
                SweepRun run = sweep.runs[index];
                run.index = slice.runs.size();
                run.values.clear();
                if (axes.row) run.values.push_back(grid[*axes.row].values[row]);
                if (axes.column) run.values.push_back(grid[*axes.column].values[column]);
                place[index] = run.index;
                if (training.count(index)) slice.training.insert(run.index);
                slice.part.runs.push_back(std::move(run));
                slice.runs.push_back(index);
            }
    std::map<std::size_t, SweepRow> rows;  // in the order of the part's grid
    for (const SweepRow& row : sweep.rows)
        if (const auto at = place.find(row.run); at != place.end()) {
            SweepRow mine = row;
            mine.run = at->second;
            rows[mine.run] = std::move(mine);
        }
    for (auto& [index, row] : rows) slice.part.rows.push_back(std::move(row));
    return slice;
}

void setScalar(SweepSlice& slice, const SweepScalar& scalar, const std::map<std::size_t, double>& of_runs) {
    slice.scalar = scalar;
    slice.scalars.clear();
    for (std::size_t i = 0; i < slice.runs.size(); ++i)
        if (const auto value = of_runs.find(slice.runs[i]); value != of_runs.end())
            slice.scalars[i] = value->second;
}

}  // namespace normscope::widgets
