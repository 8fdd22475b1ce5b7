// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// All panels, in the order of the menus.
const std::vector<PanelInfo>& panels();

/// The panel of that id; throws InputError naming the known ones.
const PanelInfo& panelInfo(const std::string& id);

/// The figure of one panel; throws InputError for an unknown id or option.
Figure buildPanel(const std::string& id, const PanelInput& input);

}  // namespace normscope::widgets
