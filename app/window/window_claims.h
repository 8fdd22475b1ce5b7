// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

class ClaimsDrawer;
class MainWindow;

/// The part of the window for the papers' statements: their drawer, and where its buttons lead.
void addClaimsDrawer(MainWindow& window);
ClaimsDrawer& claimsDrawer(const MainWindow& window);
/// Opens the drawer, or closes it.
void toggleClaims(MainWindow& window);

}  // namespace normscope::app
