// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace normscope::widgets {

/// Writes a file atomically: to a temporary next to it, synced, then renamed over it. Throws SystemError (one
/// line: file and reason) on an unwritable folder or a full disk; an existing file is then unchanged.
/// InputError where an HDF5 file is there: no export replaces a session.
void saveBytes(const QString& path, const QByteArray& bytes);

}  // namespace normscope::widgets
