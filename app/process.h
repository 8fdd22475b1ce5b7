// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QApplication;

namespace normscope::app {

/// Whether a window can be opened, by the environment.
bool hasDisplay();
/// What has to be set before the QApplication is made: memory, hashes, folders, fonts, and that foreign files
/// are read by a walker. Once, at the start of main().
void prepareProcess();
/// Font, numbers, name and style of the program.
void setUp(QApplication& app);

}  // namespace normscope::app
