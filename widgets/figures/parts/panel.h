// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/figure.h"

#include <QString>
#include <QStringList>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace normscope {
class HealthyBand;
}

namespace normscope::widgets {

/// The switches of a panel, by key. Plain text, for session files and the command line.
using PanelOptions = std::map<std::string, std::string>;

/// The input of a panel. Nothing is owned: the runs must outlive the call.
struct PanelInput {
    std::vector<const RunData*> runs;  ///< drawn as run 0, 1, …; none is null
    std::vector<const RunData*>
        ghosts;               ///< the state of run i before the last knob was moved: grey; null = none
    QString ghost_name = {};  ///< of the knob's old value: "Δt 1"; empty = not named
    std::vector<const RunData*> previews;  ///< run i at step 0 after a structural change: dotted; null = none
    std::vector<bool> draft;               ///< run i is a first estimate; shorter than runs = exact
    std::vector<bool> pending;  ///< run i is being measured for this panel; shorter than runs = false
    std::int64_t step =
        std::numeric_limits<std::int64_t>::max();  ///< the samples of exactly this step; max = the newest
    bool exploring = false;                        ///< not trained: everything is at step 0
    QString hint;  ///< text of the Loss panel before the first step ("Space trains both, about 12 s")
    int selected_layer = -1;               ///< from 0; -1 = none
    int selected_head = -1;                ///< from 0; -1 = none
    PanelOptions options;                  ///< missing keys take their default
    const HealthyBand* healthy = nullptr;  ///< drawn below the runs; null = none

    std::int64_t shownStep() const { return exploring ? 0 : step; }
};

/// One option of a panel and its values; the first is the default.
struct PanelOption {
    std::string key;
    QString label;
    std::vector<std::string> values;
    std::map<std::string, std::string> former = {};  ///< values in older sessions and their replacements
};

/// A panel: a pure function from recorded data to a figure, and its menu entries.
struct PanelInfo {
    std::string id;
    QString title;
    /// Ids of the probes whose samples it draws: measured for it, and redrawn on their samples. The
    /// first is the one named in its messages. Several panels may draw one probe.
    std::vector<std::string> probes;
    std::vector<PanelOption> options;
    Figure (*build)(const PanelInput&) = nullptr;
    bool draws_steps = false;  ///< the step table
    bool groups = false;       ///< draws curves alone, over depth or steps: its runs can be drawn as groups
};

/// Whether a panel draws what has changed: ids of probes, and "training" for the step table.
bool drawsAny(const PanelInfo& panel, const QStringList& changed);

/// Every option of the panel with its value, defaults filled in. Throws InputError, naming the allowed set,
/// for an unknown key or value.
PanelOptions resolveOptions(const PanelInfo& panel, const PanelOptions& given);

/// The menu title of an option's value.
QString optionTitle(const std::string& value);

/// Of every panel of one step: whether its axes and colours span the whole run (run_scale.h) or this step. It
/// is no option of the panel's own build().
inline constexpr const char* kAxesOption = "axes";
/// The input of the panel's own build(). Throws InputError as resolveOptions does.
PanelInput withoutAxesOption(const PanelInfo& panel, const PanelInput& input);

/// A figure with the panel's id and title set.
Figure startFigure(const PanelInfo& panel);

}  // namespace normscope::widgets
