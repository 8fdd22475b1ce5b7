// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/kept_recordings.h"

#include <algorithm>

namespace normscope::app {

QStringList recordingsToDrop(std::vector<EndedRecording> ended, const QDateTime& now) {
    std::sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.written > b.written; });
    QStringList dropped;
    qint64 kept = 0;
    for (const EndedRecording& recording : ended) {
        const bool young = recording.written.daysTo(now) < kKeptRecordingDays;
        if (!young && kept + recording.bytes > kKeptRecordingBytes)
            dropped << recording.path;
        else
            kept += recording.bytes;
    }
    return dropped;
}

}  // namespace normscope::app
