// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the files' thread that lists the folder of recordings.
#include "app/lab/files/io_worker.h"
#include "app/lab/files/trash.h"
#include "core/base/error.h"
#include "core/session/describe.h"
#include "core/session/replaceable.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {
constexpr qint64 kListMs = 30;  // then what is to be recorded has its turn

}  // namespace

void IoWorker::listRecordings() {
    const bool idle = to_list_.isEmpty();
    to_list_ = QDir(folder_).entryInfoList({QStringLiteral("*.h5")}, QDir::Files, QDir::Time);
    to_list_.removeIf([](const QFileInfo& file) { return file.fileName().contains(u".ckpt."); });
    listed_.clear();
    if (to_list_.isEmpty())
        Q_EMIT recordingsListed({}, true);
    else if (idle)
        listSome();
}

void IoWorker::listSome() {
    QElapsedTimer time;
    time.start();
    while (!to_list_.isEmpty() && time.elapsed() < kListMs) listed_.append(rowOf(to_list_.takeFirst()));
    Q_EMIT recordingsListed(listed_, to_list_.isEmpty());
    if (!to_list_.isEmpty()) QMetaObject::invokeMethod(this, &IoWorker::listSome, Qt::QueuedConnection);
}

RecordingRow IoWorker::rowOf(const QFileInfo& file) {
    RecordingRow row;
    row.path = file.filePath();
    row.written = file.lastModified();
    row.last_loss = std::nan("");
    row.live = recordings_.writes(row.path.toStdString());
    row.bytes = file.size();
    row.checkpoint_bytes = bytesOfRecording(row.path) - row.bytes;
    if (row.live) return row;  // a file that is being written is not read
    const auto known = heads_.find(row.path);
    if (known != heads_.end() && known->second.first == file.size() &&
        known->second.second.written == row.written) {
        RecordingRow head = known->second.second;
        head.checkpoint_bytes = row.checkpoint_bytes;
        return head;
    }
    try {
        const std::vector<RunHead> heads = heads_of(row.path.toStdString());
        if (heads.empty()) throw InputError(row.path.toStdString() + ": holds no run");
        row.name = QString::fromStdString(heads.front().name);
        row.outcome = heads.front().outcome;
        row.last_step = heads.front().last_step;
        row.last_loss = heads.front().last_loss;
    } catch (const std::exception& error) {
        row.damage = QString::fromUtf8(error.what());
    }
    heads_[row.path] = {file.size(), row};
    return row;
}

void IoWorker::readCurve(const QString& path) {
    RecordingCurve curve;
    try {
        curve = curveOf(losses_of(path.toStdString()));
    } catch (const std::exception&) {
        // The row of a damaged file states so, from its head; without a curve it stays without one.
    }
    Q_EMIT curveRead(path, curve);
}

void IoWorker::trashRecording(const QString& path) {
    guarded([&] {
        require_replaceable(path.toStdString(), std::nullopt);  // another window may be writing it
        Q_EMIT recordingTrashed(path, moveToTrash(filesOfRecording(path)));
    });
}

void IoWorker::untrash(const QList<std::pair<QString, QString>>& files) {
    guarded([&] { restoreFromTrash(files); });
    listRecordings();
}

}  // namespace normscope::app
