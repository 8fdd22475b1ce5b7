// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_map.h"

#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// The index of a run's value on each axis.
std::vector<std::size_t> places_of(const SweepSpec& spec, std::size_t run) {
    std::vector<std::size_t> places(spec.grid.size());
    std::size_t rest = run / spec.seeds.size();
    for (std::size_t axis = spec.grid.size(); axis-- > 0;) {
        places[axis] = rest % spec.grid[axis].values.size();
        rest /= spec.grid[axis].values.size();
    }
    return places;
}

}  // namespace

std::size_t SweepCell::ended() const {
    std::size_t count = 0;
    for (const auto& [state, runs_of_state] : outcomes) count += runs_of_state;
    return count;
}

std::string SweepCell::outcomes_text() const {
    std::string text;
    for (const auto& [state, count] : outcomes)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + run_state_word(state);
    return text;
}

std::vector<SweepCell> sweep_cells(const SweepResults& results, const std::vector<std::size_t>& keys) {
    std::vector<SweepCell> cells(1);
    for (const std::size_t key : keys) {
        std::vector<SweepCell> finer;
        for (const SweepCell& cell : cells)
            for (std::size_t value = 0; value < results.spec.grid[key].values.size(); ++value) {
                finer.push_back(cell);
                finer.back().values.push_back(value);
            }
        cells = std::move(finer);
    }
    const auto cell_of = [&](std::size_t run) -> std::size_t {
        const std::vector<std::size_t> places = places_of(results.spec, run);
        std::size_t index = 0;
        for (const std::size_t key : keys) index = index * results.spec.grid[key].values.size() + places[key];
        return index;
    };
    for (std::size_t run = 0; run < results.runs.size(); ++run) cells[cell_of(run)].runs.push_back(run);
    std::vector<std::vector<double>> losses(cells.size());
    for (const SweepRow& row : results.rows) {
        const std::size_t index = cell_of(row.run);
        ++cells[index].outcomes[row.state];
        if (const auto loss = compared_loss(row)) losses[index].push_back(*loss);
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (!losses[i].empty()) cells[i].median_loss = median(std::move(losses[i]));
    return cells;
}

std::vector<BestValue> best_values(const SweepResults& results, std::size_t key) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < results.spec.grid.size(); ++i)
        if (i != key) others.push_back(i);
    std::vector<std::size_t> fine = others;
    fine.push_back(key);
    const std::vector<SweepCell> cells = sweep_cells(results, fine), groups = sweep_cells(results, others);
    const std::size_t count = results.spec.grid[key].values.size();
    std::vector<BestValue> best;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        std::optional<std::size_t> lowest;
        for (std::size_t i = group * count; i < (group + 1) * count; ++i) {
            const auto& median_loss = cells[i].median_loss;
            if (!median_loss || !std::isfinite(*median_loss)) continue;
            if (!lowest || *median_loss < *cells[*lowest].median_loss) lowest = i;
        }
        if (lowest)
            best.push_back(
                {groups[group].values, cells[*lowest].values.back(), cells[*lowest], groups[group]});
    }
    return best;
}

}  // namespace normscope
