// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

namespace normscope::widgets {

/// Writes a file whole or not at all: to a temporary beside it, synced, then renamed over it. Throws
/// SystemError (one line: file and reason) on an unwritable folder or a full disk; an older file of that name
/// then stays as it was.
void saveBytes(const QString& path, const QByteArray& bytes);

}  // namespace normscope::widgets
