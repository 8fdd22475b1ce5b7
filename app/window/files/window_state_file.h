// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLockFile>
#include <QString>
#include <memory>
#include <string>

namespace normscope::app {

/// The file in which a window keeps its state for the next start: window-N.json in the folder "state" next to
/// the recordings. Locked as long as this exists, so that two windows never write one file; the lock of a
/// killed process does not count.
class WindowStateFile {
  public:
    static constexpr int kMax = 8;

    /// Takes the file that was written last, of those that no window has; `afresh`: one that is not there
    /// yet, of kMax the one written first.
    WindowStateFile(const QString& recordings_folder, bool from_start);

    /// False where the folder cannot be written.
    bool locked() const { return lock_ != nullptr; }
    const QString& path() const { return path_; }
    /// The file for data that no recording has.
    QString companion() const;
    /// As it was found; empty: nothing was kept.
    const std::string& text() const { return text_; }
    void remove();

  private:
    bool take(const QString& path);

    QString path_;
    std::string text_;
    std::unique_ptr<QLockFile> lock_;
};

}  // namespace normscope::app
