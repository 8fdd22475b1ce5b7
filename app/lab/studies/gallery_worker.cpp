// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/gallery_worker.h"

#include "core/base/error.h"
#include "core/probe/interface/probe_input.h"
#include "core/sweep/sweep_folder.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QStringList>
#include <optional>
#include <utility>

namespace normscope::app {

namespace {

/// Times and sizes of what a sweep writes: results.csv with every run that ends, the folder of the recordings
/// with every file that is added or deleted.
QString stampOf(const QString& folder) {
    QStringList parts;
    for (const char* name : {"sweep.json", "results.csv", "runs"}) {
        const QFileInfo file(QDir(folder).filePath(QLatin1String(name)));
        parts << (file.exists() ? QStringLiteral("%1 %2")
                                      .arg(file.lastModified().toMSecsSinceEpoch())
                                      .arg(file.isDir() ? 0 : file.size())
                                : QStringLiteral("-"));
    }
    return parts.join(u';');
}

/// The sweep in a folder; nullopt where there is none, or a damaged one.
std::optional<SweepSpec> storedSweep(const QString& folder) {
    try {
        return read_sweep_spec(folder.toStdString());
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Renames a folder to the first free of FOLDER-old-1, FOLDER-old-2, …, while no process trains in it.
QString setAside(const QString& folder) {
    std::optional<SweepFolder> locked;
    if (const auto stored = storedSweep(folder)) locked.emplace(folder.toStdString(), *stored);
    for (int n = 1;; ++n) {
        const QString to = QStringLiteral("%1-old-%2").arg(folder).arg(n);
        if (QFileInfo::exists(to)) continue;
        if (!QDir().rename(folder, to))
            throw SystemError(folder.toStdString() + ": cannot be renamed to " + to.toStdString());
        return to;
    }
}

bool isEmpty(const QString& folder) {
    return QDir(folder).isEmpty(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
}

}  // namespace

GalleryWorker::GalleryWorker(FileCalls files)
    : files_([this, files = std::move(files)](const std::function<void()>& work) {
          if (closing_) throw Cancelled{};
          files(work);
      }) {}

void GalleryWorker::read(GalleryRequest request, bool first) {
    {
        const std::lock_guard lock(mutex_);
        if (first)
            waiting_.push_front(std::move(request));
        else
            waiting_.push_back(std::move(request));
    }
    QMetaObject::invokeMethod(this, &GalleryWorker::takeRequest, Qt::QueuedConnection);
}

void GalleryWorker::close() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    closing_ = true;
}

void GalleryWorker::takeRequest() {
    GalleryRequest request;
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty() || closing_) return;
        request = std::move(waiting_.front());
        waiting_.pop_front();
    }
    try {
        Q_EMIT replied(request.token, std::make_shared<const GalleryReply>(replyTo(request)));
    } catch (const Cancelled&) {
        // The window is being closed.
    }
}

GalleryReply GalleryWorker::replyTo(const GalleryRequest& request) const {
    GalleryReply reply;
    using Found = GalleryReply::Found;
    if (request.set_aside) {
        try {
            reply.aside = setAside(request.folder);
            reply.found = Found::SetAside;
        } catch (const std::exception& error) {
            reply.found = Found::NotSetAside;
            reply.problem = QString::fromUtf8(error.what());
        }
        return reply;
    }
    // Before the files are read: what is written meanwhile changes the stamp.
    reply.stamp = stampOf(request.folder);
    if (!request.stamp.isEmpty() && reply.stamp == request.stamp) {
        reply.found = Found::Unchanged;
        return reply;
    }
    const std::string folder = request.folder.toStdString();
    const bool there = QFileInfo::exists(request.folder) && !isEmpty(request.folder);
    try {
        if (there) {
            reply.found = Found::Other;
            const std::string difference = sweep_difference(read_sweep_spec(folder), request.entry->sweep);
            if (!difference.empty()) throw InputError(difference);
            reply.found = Found::Damaged;
        }
        reply.result = read_gallery_result(*request.entry, folder, files_);
        if (there) reply.found = Found::Sweep;
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {
        reply.problem = QString::fromUtf8(error.what());
        if (!there) reply.found = Found::Other;
    }
    return reply;
}

}  // namespace normscope::app
