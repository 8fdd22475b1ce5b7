// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>

namespace normscope::widgets {

/// How a panel is read: what to look for in it, and what that means. Sentences to read aloud.
struct PanelReading {
    QString look_for, means;
};

/// Of the panel of this id; both empty for other figures.
PanelReading panelReading(const std::string& panel);

}  // namespace normscope::widgets
