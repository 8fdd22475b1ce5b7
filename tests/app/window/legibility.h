// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace normscope::app {
class MainWindow;
}

namespace normscope::test {

/// What cannot be read in a window, a line each: no plot at all; texts of a figure that overlap each other or
/// a curve, are cut short or leave it;
/// texts with a contrast below 4.5; axes with fewer than 4 or more than 8 labelled ticks; plots that fill
/// less than 65 % of their panel, or have neither data nor a sentence that states why; labels, buttons and
/// chips that are narrower than their text.
QStringList illegible(const app::MainWindow& window);

}  // namespace normscope::test
