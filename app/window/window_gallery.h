// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/dialogs/command_search.h"

#include <vector>

class QString;
class QWidget;

namespace normscope::app {

class GalleryDrawer;
class MainWindow;

/// The part of the window for the papers' figures: their drawer over the area of panels and maps, and where
/// its buttons lead.
void addGalleryDrawer(MainWindow& window, QWidget* over);
GalleryDrawer& galleryDrawer(const MainWindow& window);
/// Opens the drawer, or closes it.
void toggleGallery(MainWindow& window);
/// Opens the drawer at an entry.
void openGallery(MainWindow& window, const QString& id);
/// A command for each entry, for Ctrl+K.
std::vector<SearchEntry> galleryCommands(MainWindow& window);

}  // namespace normscope::app
