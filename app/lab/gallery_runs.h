// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/worker_thread.h"
#include "app/lab/state/pending.h"
#include "app/lab/studies/gallery_worker.h"
#include "widgets/figures/gallery/gallery_state.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace normscope::app {

class Devices;
class SweepRunner;

using widgets::GalleryState;

/// The gallery's entries with what their folders hold. Each is trained as any sweep (Lab::sweeps()), into its
/// own folder; the folders are read in a thread of its own, which starts with the first one. Lives in the
/// interface thread, which never waits, except in the destructor for the recording that is being read.
class GalleryRuns : public QObject {
    Q_OBJECT
  public:
    /// `sweeps` and `devices` outlive it. The entries' folders are ID in `folder`; `files` executes calls to
    /// HDF5; `deliver` applies replies (Lab::Options).
    GalleryRuns(SweepRunner& sweeps, const Devices& devices, PendingRequests& requests, QString folder,
                FileCalls files, std::function<void(std::function<void()>)> deliver);
    ~GalleryRuns() override;
    /// "gallery" next to the folder of recordings.
    static QString folderFor(const QString& recordings_folder);

    /// gallery(), until others are set.
    const std::vector<GalleryEntry>& entries() const;
    void setEntries(std::vector<GalleryEntry> entries);
    /// Adds an entry of the user from its file (load_gallery_entry), or reads it again: an entry of the same
    /// name is replaced. A file that is none, and an entry in training, are a problem(). True where it is in
    /// the list now.
    bool addOwn(const QString& path);
    /// Takes an entry of the user from the list; its file and folder stay.
    void removeOwn(const QString& id);
    const GalleryEntry* find(const QString& id) const;  ///< null: none
    QString folder(const QString& id) const;
    const GalleryState& state(const QString& id) const;

    /// Reads the folders that have changed since they were read; that of `first` before the others.
    void read(const QString& first = {});

    /// Trains an entry's runs, or those that have not ended. Only without an obstacle.
    void run(const QString& id);
    /// The same from the first run, in a new folder: the old one is renamed to ID-old-N (setAside).
    void runAgain(const QString& id);
    void stop();
    /// The entry in training; empty: none.
    QString running() const;
    bool stopping() const;
    /// Runs of the entry in training that have ended, of how many.
    std::size_t ended() const;
    /// Why an entry that is not in training cannot be trained now, in one line; empty: it can.
    QString obstacle(const QString& id) const;

  Q_SIGNALS:
    /// A result, the entry in training or its progress; empty: of all.
    void changed(const QString& id);
    void setAside(const QString& folder);  ///< to which the old folder was renamed
    void problem(const QString& line);     ///< what cannot be done, one line

  private:
    struct Slot {
        GalleryState state;
        QString stamp;
        quint64 token = 0;   ///< of the newest request, while it waits for its reply; 0: none waits
        bool again = false;  ///< to be read again after that
        bool setting_aside = false;
    };
    int indexOf(const QString& id) const;  ///< −1: none
    bool settingAside();
    void load() const;
    void request(std::size_t entry, bool first, bool changed_only, bool set_aside = false);
    void take(quint64 token, const GalleryReplyPtr& reply);
    void follow();

    SweepRunner& sweeps_;
    const Devices& devices_;
    const QString folder_;
    const FileCalls files_;
    const std::function<void(std::function<void()>)> deliver_;
    // At their first use.
    mutable std::shared_ptr<const std::vector<GalleryEntry>> entries_;
    mutable std::vector<Slot> slots_;
    QString started_, followed_;  ///< the entry of the last start(); the one in training
    std::size_t ended_ = 0;       ///< of it, as read last
    Pending<std::size_t> reads_;  ///< the entries that are read or renamed
    std::unique_ptr<WorkerThread<GalleryWorker>> worker_;
};

}  // namespace normscope::app
