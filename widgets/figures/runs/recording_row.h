// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QDateTime>
#include <QString>
#include <vector>

namespace normscope::widgets {

/// A file of the folder of recordings, as lists show it. A plain value, safe in any thread.
struct RecordingRow {
    QString path, name;  ///< `name`: of its run; empty where it is damaged, or written right now
    QDateTime written;
    Outcome outcome;
    qint64 last_step = -1;
    double last_loss = 0;         ///< nat, NaN where there is none
    QString damage;               ///< why it cannot be read, in one line; empty if it can
    bool live = false;            ///< this process is writing it
    qint64 bytes = 0;             ///< of the file
    qint64 checkpoint_bytes = 0;  ///< of the checkpoints next to it

    qint64 totalBytes() const { return bytes + checkpoint_bytes; }
};

/// The losses of a recording, the least and the largest of each of at most kCurveBlocks blocks of steps.
inline constexpr int kCurveBlocks = 48;
struct RecordingCurve {
    std::vector<double> low, high;
};
RecordingCurve curveOf(const std::vector<double>& losses);

}  // namespace normscope::widgets
