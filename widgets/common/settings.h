// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>

namespace normscope::widgets {

/// Settings that persist between starts.
class Settings {
  public:
    QStringList recentFiles() const;
    void addRecentFile(const QString& path);
    bool dark() const;
    void setDark(bool dark);
    /// The device of trainings (core/backend/devices/devices.h): as chosen, "auto" before.
    QString backend() const;
    void setBackend(const QString& backend);
    /// Whether the window is the full one; a first start shows the basic one.
    bool full() const;
    void setFull(bool full);
    /// Whether a start restores the last window.
    bool restores() const;
    void setRestores(bool restores);
    QString lastFolder() const;
    void setLastFolder(const QString& folder);
    /// Interrupted recordings that are not to be offered again.
    QStringList dismissedRecordings() const;
    void dismissRecordings(const QStringList& paths);

    /// Files of one's own entries of the gallery.
    QStringList galleryEntries() const;
    void setGalleryEntries(const QStringList& paths);

    /// Where live recordings are written.
    static QString recordingsFolder();

  private:
    QSettings settings_;
};

}  // namespace normscope::widgets
