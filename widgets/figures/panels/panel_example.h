// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace normscope::widgets {

/// What a panel shows of a run that learned and of one that stalled: the default comparison after its last
/// step, seed 42. Recorded by tests/reference/help_examples.py, which also compares it with runs of today.
struct PanelExample {
    using Points =
        std::vector<std::pair<double, double>>;  ///< x as in the panel, value; NaN where it has none
    Points learned, stalled;                     ///< Pre-LN, Post-LN
    QString reduced_by;                          ///< "mean over heads"; empty: as the panel draws it
};

/// Nullopt for a panel that shows neither: of gates, which these runs do not have, and of maps over steps.
std::optional<PanelExample> panelExample(const std::string& panel);

}  // namespace normscope::widgets
