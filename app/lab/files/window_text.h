// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "core/recipe/recipe.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/figures/view_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// What a session's /view states of a cell of the grid. Panel and options exist.
struct StoredCell {
    std::string panel;
    widgets::PanelOptions options;
    std::map<std::string, widgets::PlotViewState> views;  ///< zoom and log switches by panel
};

/// The knobs of a run that differ from its data.
struct StoredKnobs {
    Recipe recipe, live;
    bool pinned = false;
    std::string name;  ///< given; empty: named after its recipe
};

/// A session's /view, checked as a whole before any of it is applied. Selections may name a run or a layer
/// that is not there.
struct StoredView {
    std::optional<std::pair<int, int>> size;  ///< of the window, pixels
    bool dark = false, wide = false, linked = true, group_seeds = true;
    int focus = -1;  ///< the cell that fills the centre
    int run = 0, layer = -1, head = -1;
    std::optional<std::int64_t> step;  ///< absent: the newest
    std::vector<StoredCell> cells;
    std::map<std::string, StoredKnobs> knobs;  ///< by run
    QString note;                              ///< on the comparison
    std::map<std::string, QString> run_notes;  ///< by run
};

/// Throws InputError, which begins with "/view", for a key that is missing and a value that is not allowed.
StoredView readView(const std::string& text);

/// The state that a window keeps for the next start.
struct StoredWindow {
    std::string view;            ///< text of readView(), which it has passed
    std::vector<SavedRun> runs;  ///< one at least
    std::string session_path;    ///< empty: none
    bool unsaved = false;
    struct StoryAt {
        std::string name;
        std::size_t at = 0;
        std::vector<bool> held;
    };
    std::optional<StoryAt> story;
    std::map<std::string, std::vector<std::string>> tried;  ///< remedies, by run
};

/// Throws InputError as readView(). `where` begins messages.
StoredWindow readWindow(const std::string& text, const std::string& where);

}  // namespace normscope::app
