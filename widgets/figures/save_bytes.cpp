// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/save_bytes.h"

#include "core/base/error.h"

#include <QFile>
#include <QSaveFile>

namespace normscope::widgets {

void saveBytes(const QString& path, const QByteArray& bytes) {
    if (QFile old(path); old.open(QIODevice::ReadOnly) && old.read(8) == QByteArray("\x89HDF\r\n\x1a\n"))
        throw InputError(path.toStdString(), "is an HDF5 file and is not replaced by an export",
                         "another file");
    QSaveFile file(path);
    // flush() separately: commit() alone misses a write that fails while the file is being closed.
    const bool saved =
        file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.flush() && file.commit();
    if (!saved)
        throw SystemError(QStringLiteral("%1: cannot write: %2").arg(path, file.errorString()).toStdString());
}

}  // namespace normscope::widgets
