// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/settings.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace normscope::widgets {

namespace {
constexpr int kRecentFiles = 9;  // Ctrl+1 … Ctrl+9
}

QStringList Settings::recentFiles() const {
    return settings_.value(QStringLiteral("recent")).toStringList();
}

void Settings::addRecentFile(const QString& path) {
    QStringList recent = recentFiles();
    const QString absolute = QFileInfo(path).absoluteFilePath();
    recent.removeAll(absolute);
    recent.prepend(absolute);
    settings_.setValue(QStringLiteral("recent"), QStringList(recent.mid(0, kRecentFiles)));
}

bool Settings::dark() const {
    return settings_.value(QStringLiteral("dark"), false).toBool();
}
void Settings::setDark(bool dark) {
    settings_.setValue(QStringLiteral("dark"), dark);
}

QString Settings::backend() const {
    return settings_.value(QStringLiteral("backend"), QStringLiteral("auto")).toString();
}
void Settings::setBackend(const QString& backend) {
    settings_.setValue(QStringLiteral("backend"), backend);
}

bool Settings::full() const {
    return settings_.value(QStringLiteral("full"), false).toBool();
}
void Settings::setFull(bool full) {
    settings_.setValue(QStringLiteral("full"), full);
}

bool Settings::restores() const {
    return settings_.value(QStringLiteral("restore"), true).toBool();
}
void Settings::setRestores(bool restores) {
    settings_.setValue(QStringLiteral("restore"), restores);
}

QString Settings::lastFolder() const {
    return settings_.value(QStringLiteral("folder"), QDir::homePath()).toString();
}
void Settings::setLastFolder(const QString& folder) {
    settings_.setValue(QStringLiteral("folder"), folder);
}

QStringList Settings::dismissedRecordings() const {
    return settings_.value(QStringLiteral("dismissed")).toStringList();
}

void Settings::dismissRecordings(const QStringList& paths) {
    QStringList all;
    for (const QString& path : dismissedRecordings() + paths)
        if (QFileInfo::exists(path) && !all.contains(path)) all.append(path);
    settings_.setValue(QStringLiteral("dismissed"), all);
}

QStringList Settings::galleryEntries() const {
    return settings_.value(QStringLiteral("gallery")).toStringList();
}
void Settings::setGalleryEntries(const QStringList& paths) {
    settings_.setValue(QStringLiteral("gallery"), paths);
}

QString Settings::recordingsFolder() {
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
        .filePath(QStringLiteral("recordings"));
}

}  // namespace normscope::widgets
