// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/files/window_state_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace normscope::app {

WindowStateFile::WindowStateFile(const QString& recordings_folder, bool from_start) {
    const QDir folder(
        QFileInfo(QDir(recordings_folder).absolutePath()).dir().filePath(QStringLiteral("state")));
    if (!QDir().mkpath(folder.path())) return;
    QFileInfoList written =
        folder.entryInfoList({QStringLiteral("window-*.json")}, QDir::Files, QDir::Time);  // the newest first
    if (!from_start)
        for (const QFileInfo& file : written)
            if (take(file.filePath())) break;
    for (int n = 1; !lock_ && n <= kMax; ++n) {
        const QString path = folder.filePath(QStringLiteral("window-%1.json").arg(n));
        if (!QFileInfo::exists(path)) take(path);
    }
    for (auto file = written.crbegin(); !lock_ && file != written.crend(); ++file) take(file->filePath());
    if (!lock_ || from_start) return;
    QFile file(path_);
    if (file.open(QFile::ReadOnly)) text_ = file.readAll().toStdString();
}

bool WindowStateFile::take(const QString& path) {
    auto lock = std::make_unique<QLockFile>(path + QStringLiteral(".lock"));
    lock->setStaleLockTime(0);  // held however long a window is open
    if (!lock->tryLock()) return false;
    lock_ = std::move(lock);
    path_ = path;
    return true;
}

QString WindowStateFile::companion() const {
    return path_.chopped(5) + QStringLiteral(".h5");
}

void WindowStateFile::remove() {
    QFile::remove(path_);
    QFile::remove(companion());
}

}  // namespace normscope::app
