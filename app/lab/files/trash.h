// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <utility>

namespace normscope::app {

/// A recording and its live checkpoints, those that exist. Calls HDF5.
QStringList filesOfRecording(const QString& path);
/// The sum of the sizes of all files of their names. None is opened.
qint64 bytesOfRecording(const QString& path);

/// Where a file is now, and where it was.
using TrashedFile = std::pair<QString, QString>;

/// Moves files to the system's trash, all of them or none. Throws SystemError with a line.
QList<TrashedFile> moveToTrash(const QStringList& files);
/// Moves them back and deletes their entries in the trash's list (info/NAME.trashinfo), so that the trash
/// shows none that it does not have. A file that is in its place again is not replaced. Throws SystemError
/// for the first that cannot be moved, after the others were.
void restoreFromTrash(const QList<TrashedFile>& files);

}  // namespace normscope::app
