// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/trash.h"

#include "core/base/error.h"
#include "core/session/checkpoint.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace normscope::app {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("normscope::app::Trash", text);
}

/// The entry of a file in the list of its trash, by the specification of freedesktop.org: the trash holds
/// files/NAME and info/NAME.trashinfo. Empty where the file lies in no such trash.
QString entryOf(const QString& trashed) {
    const QFileInfo file(trashed);
    QDir trash = file.dir();
    if (trash.dirName() != QLatin1String("files") || !trash.cdUp()) return {};
    return trash.filePath(QStringLiteral("info/") + file.fileName() + QStringLiteral(".trashinfo"));
}

}  // namespace

QStringList filesOfRecording(const QString& path) {
    QStringList files{path};
    for (const std::string& checkpoint : CheckpointPair(path.toStdString()).files())
        if (!holds_something_else(checkpoint)) files << QString::fromStdString(checkpoint);
    return files;
}

qint64 bytesOfRecording(const QString& path) {
    qint64 bytes = QFileInfo(path).size();
    for (const std::string& checkpoint : CheckpointPair(path.toStdString()).files())
        bytes += QFileInfo(QString::fromStdString(checkpoint)).size();
    return bytes;
}

QList<TrashedFile> moveToTrash(const QStringList& files) {
    QList<TrashedFile> moved;
    for (const QString& file : files) {
        QString now;
        if (QFile::moveToTrash(file, &now)) {
            moved.append({now, file});
            continue;
        }
        restoreFromTrash(moved);
        throw SystemError(tr("%1: it cannot be moved to the trash").arg(file).toStdString());
    }
    return moved;
}

void restoreFromTrash(const QList<TrashedFile>& files) {
    QString failed;
    for (const auto& [now, before] : files) {
        if (!now.isEmpty() && !QFileInfo::exists(before) && QFile::rename(now, before)) {
            if (const QString entry = entryOf(now); !entry.isEmpty()) QFile::remove(entry);
        } else if (failed.isEmpty()) {
            failed = before;
        }
    }
    if (!failed.isEmpty())
        throw SystemError(tr("%1: it cannot be moved back from the trash").arg(failed).toStdString());
}

}  // namespace normscope::app
