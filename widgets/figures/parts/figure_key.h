// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/parts/panel.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace normscope::widgets {

/// The inputs of a panel's figure, for comparison: equal keys give equal figures. A run's data only grow, and
/// are replaced where they change; so their address and size identify them. The key keeps them alive, so that
/// addresses are not reused.
struct FigureKey {
    struct Run {
        std::shared_ptr<const RunData> data, ghost, preview;
        std::size_t rows = 0, samples = 0, events = 0;
        RunState state = RunState::Prepared;
        bool draft = false, pending = false, outline = false;
        /// The requests that the panel's probes were last measured for, and whether in whole.
        std::vector<std::pair<std::uint64_t, bool>> measured = {};
        bool operator==(const Run&) const = default;
    };
    std::string panel;
    PanelOptions options;
    std::vector<Run> runs;
    std::int64_t step = 0;
    bool exploring = false;
    QString hint;
    int selected_layer = -1, selected_head = -1;
    std::vector<std::size_t> group_of = {};  ///< by run; empty: no groups
    int selected_run = -1;                   ///< of groups, one run of which may be shown
    std::size_t healthy = 0;                 ///< version of the band of healthy runs
    std::size_t scale = 0;                   ///< version of the range over the whole run

    bool operator==(const FigureKey&) const = default;

    /// Whether both show the same measurements, which newer ones are to replace: the runs' names may differ,
    /// and their ghosts.
    bool pendingAs(const FigureKey& other) const {
        FigureKey same = *this;
        for (std::size_t i = 0; i < std::min(runs.size(), other.runs.size()); ++i) {
            Run& run = same.runs[i];
            if (!run.pending) continue;
            run.data = other.runs[i].data;
            if (run.ghost && other.runs[i].ghost) run.ghost = other.runs[i].ghost;
        }
        return same == other;
    }
};

}  // namespace normscope::widgets
