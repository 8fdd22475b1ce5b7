// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

class MainWindow;

/// The part of the window for watchpoints: what it tells where one triggers.
void addWatch(MainWindow& window);
/// Opens the list of watchpoints of the runs that the knobs act on.
void editWatch(MainWindow& window);
/// Opens the presets of probes, and what each probe takes.
void showProbeCosts(MainWindow& window);

}  // namespace normscope::app
