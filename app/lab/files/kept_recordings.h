// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <vector>

namespace normscope::app {

/// The recording of a run that ended.
struct EndedRecording {
    QString path;
    qint64 bytes = 0;
    QDateTime written;
};

/// What recordings of ended runs may take in the folder of recordings, and how long each is safe from being
/// dropped.
inline constexpr qint64 kKeptRecordingBytes = qint64{2} << 30;
inline constexpr int kKeptRecordingDays = 14;

/// Which of them go: beyond kKeptRecordingBytes the oldest, none that is younger than kKeptRecordingDays.
/// Runs that were interrupted are not among them: they are offered to be resumed.
QStringList recordingsToDrop(std::vector<EndedRecording> ended, const QDateTime& now);

}  // namespace normscope::app
