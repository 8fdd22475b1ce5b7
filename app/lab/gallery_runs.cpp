// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/gallery_runs.h"

#include "app/lab/devices.h"
#include "app/lab/studies/sweep_runner.h"
#include "core/base/error.h"
#include "core/gallery/gallery.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <utility>

namespace normscope::app {

GalleryRuns::GalleryRuns(SweepRunner& sweeps, const Devices& devices, PendingRequests& requests,
                         QString folder, FileCalls files, std::function<void(std::function<void()>)> deliver)
    : sweeps_(sweeps),
      devices_(devices),
      folder_(std::move(folder)),
      files_(std::move(files)),
      deliver_(std::move(deliver)),
      reads_(requests, "gallery", Pending<std::size_t>::Replies::OfEach, PendingKind::Owner::Window) {
    connect(&sweeps_, &SweepRunner::opened, this, &GalleryRuns::follow);
    connect(&sweeps_, &SweepRunner::changed, this, &GalleryRuns::follow);
    connect(&sweeps_, &SweepRunner::ended, this, [this] {
        started_.clear();
        follow();
    });
}

GalleryRuns::~GalleryRuns() {
    if (worker_) (*worker_)->close();
}

QString GalleryRuns::folderFor(const QString& recordings_folder) {
    return QFileInfo(QDir(recordings_folder).absolutePath()).dir().filePath(QStringLiteral("gallery"));
}

void GalleryRuns::load() const {
    if (entries_) return;
    entries_ = std::make_shared<const std::vector<GalleryEntry>>(gallery());
    slots_.resize(entries_->size());
}

const std::vector<GalleryEntry>& GalleryRuns::entries() const {
    load();
    return *entries_;
}

void GalleryRuns::setEntries(std::vector<GalleryEntry> entries) {
    entries_ = std::make_shared<const std::vector<GalleryEntry>>(std::move(entries));
    slots_.assign(entries_->size(), {});
    reads_.drop();
    followed_.clear();
    follow();
    Q_EMIT changed({});
}

bool GalleryRuns::addOwn(const QString& path) {
    GalleryEntry entry;
    try {
        entry = load_gallery_entry(path.toStdString());
    } catch (const InputError& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return false;
    }
    const QString id = QString::fromStdString(entry.id);
    std::vector<GalleryEntry> all = entries();
    const int at = indexOf(id);
    if (settingAside()) return false;
    if (at >= 0 && running() == id) {
        Q_EMIT problem(tr("%1 is being trained: stop it before its file is read again").arg(id));
        return false;
    }
    if (at >= 0)
        all[static_cast<std::size_t>(at)] = std::move(entry);
    else
        all.push_back(std::move(entry));
    setEntries(std::move(all));
    read(id);
    return true;
}

/// The entries are replaced together, and with them the request that renames a folder.
bool GalleryRuns::settingAside() {
    const bool any =
        std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.setting_aside; });
    if (any) Q_EMIT problem(tr("A folder of the gallery is being renamed: try again"));
    return any;
}

void GalleryRuns::removeOwn(const QString& id) {
    const int at = indexOf(id);
    if (at < 0 || !entries()[static_cast<std::size_t>(at)].own) return;
    if (running() == id) {
        Q_EMIT problem(tr("%1 is being trained: stop it before it is removed").arg(id));
        return;
    }
    if (settingAside()) return;
    std::vector<GalleryEntry> all = entries();
    all.erase(all.begin() + at);
    setEntries(std::move(all));
    read();
}

int GalleryRuns::indexOf(const QString& id) const {
    const std::string wanted = id.toStdString();
    for (std::size_t i = 0; i < entries().size(); ++i)
        if (entries()[i].id == wanted) return static_cast<int>(i);
    return -1;
}

const GalleryEntry* GalleryRuns::find(const QString& id) const {
    const int at = indexOf(id);
    return at < 0 ? nullptr : &entries()[static_cast<std::size_t>(at)];
}

QString GalleryRuns::folder(const QString& id) const {
    return QDir::cleanPath(QFileInfo(QDir(folder_).filePath(id)).absoluteFilePath());
}

const GalleryState& GalleryRuns::state(const QString& id) const {
    static const GalleryState kNone;
    const int at = indexOf(id);
    return at < 0 ? kNone : slots_[static_cast<std::size_t>(at)].state;
}

void GalleryRuns::read(const QString& first) {
    const int at = indexOf(first);
    if (at >= 0) request(static_cast<std::size_t>(at), true, true);
    for (std::size_t i = 0; i < entries().size(); ++i)
        if (static_cast<int>(i) != at) request(i, false, true);
}

void GalleryRuns::request(std::size_t entry, bool first, bool changed_only, bool set_aside) {
    Slot& slot = slots_[entry];
    if (slot.token && !set_aside) {
        slot.again = true;  // what is being read now may have changed since
        return;
    }
    if (!worker_) {
        worker_ = std::make_unique<WorkerThread<GalleryWorker>>("gallery", files_);
        connect(worker_->get(), &GalleryWorker::replied, this,
                [this](quint64 token, const GalleryReplyPtr& reply) {
                    deliver_([this, token, reply] { take(token, reply); });
                });
    }
    if (slot.token) reads_.take(slot.token);  // its reply is stale: the folder is renamed
    slot.token = reads_.ask(entry);
    slot.setting_aside = set_aside;
    GalleryRequest wanted{
        slot.token, {entries_, &(*entries_)[entry]}, folder(QString::fromStdString(entries()[entry].id))};
    if (changed_only) wanted.stamp = slot.stamp;
    wanted.set_aside = set_aside;
    (*worker_)->read(std::move(wanted), first);
}

void GalleryRuns::take(quint64 token, const GalleryReplyPtr& reply) {
    const std::optional<std::size_t> asked = reads_.take(token);
    if (!asked) return;
    const std::size_t index = *asked;
    Slot* slot = &slots_[index];
    const QString id = QString::fromStdString(entries()[index].id);
    slot->token = 0;
    slot->setting_aside = false;
    using Found = GalleryReply::Found;
    using Kind = GalleryState::Kind;
    switch (reply->found) {
        case Found::Unchanged:
            break;
        case Found::Nothing:
        case Found::Sweep: {
            const GalleryResult& result = reply->result;
            slot->state = {reply->found == Found::Nothing ? Kind::NotRun
                           : result.ended < result.total  ? Kind::Partial
                                                          : Kind::Ended,
                           result,
                           {}};
            slot->stamp = reply->stamp;
            break;
        }
        case Found::Damaged:
        case Found::Other:
            slot->state = {reply->found == Found::Other ? Kind::Other : Kind::Damaged, {}, reply->problem};
            slot->stamp = reply->stamp;
            break;
        case Found::SetAside:
            slot->state = {Kind::NotRun, {}, {}};
            slot->stamp.clear();
            Q_EMIT setAside(reply->aside);
            run(id);
            break;
        case Found::NotSetAside:
            Q_EMIT problem(reply->problem);
            break;
    }
    if (std::exchange(slot->again, false)) request(index, true, false);
    Q_EMIT changed(id);
}

void GalleryRuns::run(const QString& id) {
    const GalleryEntry* entry = find(id);
    if (!entry) return;
    if (const QString reason = obstacle(id); !reason.isEmpty()) {
        Q_EMIT problem(reason);
        return;
    }
    started_ = id;
    sweeps_.start(entry->sweep, folder(id), devices_.chosen(), devices_.engineThreads());
}

void GalleryRuns::runAgain(const QString& id) {
    const int at = indexOf(id);
    if (at < 0) return;
    if (const QString reason = obstacle(id); !reason.isEmpty()) {
        Q_EMIT problem(reason);
        return;
    }
    request(static_cast<std::size_t>(at), true, false, true);
    Q_EMIT changed(id);
}

void GalleryRuns::stop() {
    if (!running().isEmpty()) sweeps_.stop();
}

QString GalleryRuns::running() const {
    if (!sweeps_.running()) return {};
    if (!started_.isEmpty()) return started_;
    if (!sweeps_.sweep() || QFileInfo(sweeps_.sweep()->folder).path() != QFileInfo(folder({})).filePath())
        return {};
    const QString id = QFileInfo(sweeps_.sweep()->folder).fileName();
    return indexOf(id) < 0 ? QString() : id;
}

bool GalleryRuns::stopping() const {
    return !running().isEmpty() && sweeps_.stopping();
}

std::size_t GalleryRuns::ended() const {
    const QString id = running();
    const auto& sweep = sweeps_.sweep();
    // Before the first run is trained, the sweep on screen may still be another one.
    return sweep && sweep->folder == folder(id) ? sweep->count.ended : state(id).result.ended;
}

QString GalleryRuns::obstacle(const QString& id) const {
    const int at = indexOf(id);
    if (at < 0) return {};
    if (sweeps_.running()) {
        const QString other = running();
        if (other == id) return tr("It is being trained");
        if (const GalleryEntry* entry = find(other))
            return tr("Another entry is being trained: %1").arg(QString::fromStdString(entry->title));
        const auto& sweep = sweeps_.sweep();
        return sweep ? tr("Another sweep is being trained: %1").arg(QFileInfo(sweep->folder).fileName())
                     : tr("Another sweep is being trained");
    }
    const Slot& slot = slots_[static_cast<std::size_t>(at)];
    if (slot.setting_aside) return tr("Its old folder is being renamed");
    if (slot.state.kind == GalleryState::Kind::Unread) return tr("Its folder is being read");
    return {};
}

void GalleryRuns::follow() {
    if (!entries_) return;  // no entry has been asked for: none is shown, none was started
    const QString now = running();
    if (now != followed_) {
        const int before = indexOf(followed_);
        followed_ = now;
        ended_ = ended();
        if (before >= 0) request(static_cast<std::size_t>(before), true, false);
        Q_EMIT changed({});
    }
    if (const std::size_t count = ended(); !now.isEmpty() && count != ended_) {
        ended_ = count;
        request(static_cast<std::size_t>(indexOf(now)), true, false);
    }
    Q_EMIT changed(now);  // of all where another sweep is trained, or has ended: an obstacle
}

}  // namespace normscope::app
