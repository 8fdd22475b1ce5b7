// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

class Lab;
class Presentation;

/// Connects the presentation mode to the lab: its Train button, its scrubber and its knobs act on the runs.
void connectPresentation(Presentation& presentation, Lab& lab);

}  // namespace normscope::app
