// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/panels/panel.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// All that a panel's picture is drawn from, to be compared: of equal keys the pictures are the same. A run's data only
/// grow, and are replaced by others where they change; so what they are and how much they hold tells them apart. The key
/// keeps them alive: no other data can take their place in memory.
struct PictureKey {
    struct Run {
        std::shared_ptr<const RunData> data, ghost, preview;
        std::size_t rows = 0, samples = 0, events = 0;
        RunState state = RunState::Prepared;
        bool draft = false, awaited = false;
        bool operator==(const Run&) const = default;
    };
    std::string panel;
    widgets::PanelOptions options;
    std::vector<Run> runs;
    std::int64_t step = 0;
    bool exploring = false;
    QString hint;
    int selected_layer = -1, selected_head = -1;

    bool operator==(const PictureKey&) const = default;
};

}  // namespace normscope::app
