// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/worker_thread.h"
#include "app/lab/files/io_worker.h"
#include "app/lab/remote/engines.h"
#include "app/lab/state/comparison.h"
#include "app/lab/state/exploration.h"
#include "app/lab/state/pending.h"
#include "app/lab/state/session_files.h"
#include "app/lab/state/shown_position.h"
#include "app/lab/state/training.h"
#include "app/lab/state/training_time.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope::app {

/// A knob that is dragged. Runs by id: they may be added or removed meanwhile.
struct Drag {
    std::map<std::string, Recipe> before;  ///< recipes at the start of the drag
    std::optional<KeyRef> key;
    RunIds targets;

    /// The runs with their recipes before the drag.
    std::vector<LabRun> undone(std::vector<LabRun> runs) const;
};

/// The data before the last knob was moved, until the next edit, and the knob's old value: "Δt 1".
struct Ghosts {
    std::map<std::string, std::shared_ptr<const RunData>> data;  ///< by run
    QString name;
};

/// What the parts of a laboratory share: the comparison, the requests that wait for replies, the threads of
/// the engine and the files, and the signals of changes that any of them makes. Internal to app/lab: the
/// parts get it by reference. Lives in the interface thread.
class LabState : public QObject {
    Q_OBJECT
  public:
    /// How a reply of a thread is applied (Lab::Options::deliver).
    using Deliver = std::function<void(std::function<void()>)>;

    /// Starts the threads; `threads` of this process's engine.
    LabState(int threads, const QString& recordings_folder, Deliver deliver);
    ~LabState() override;

    IoWorker* io() const { return workers_->io.get(); }
    Engines* engine() const { return &workers_->engine; }
    const Deliver& deliver() const { return deliver_; }
    /// Ends what the threads do, and then the threads. No reply is applied afterwards.
    void stopWorkers();

    /// Connects a worker's signal to a member of a part, which is called through deliver() with a copy of the
    /// arguments.
    template <class Worker, class Signal, class Part, class Member>
    void onReply(Worker* worker, Signal signal, Part* part, Member member) {
        connect(worker, signal, part, [this, part, member](const auto&... arguments) {
            deliver_([part, member, arguments...] { (part->*member)(arguments...); });
        });
    }

    /// An id that no run has or had: recordings and undo entries refer to them.
    std::string newId();
    void selectRun(int index);
    /// Asks for measurements of the runs whose recipes have changed; also called where a request was delayed.
    void requestExplore();

    Comparison now;
    PendingRequests requests;
    Exploration exploration{requests};
    Training training{requests};
    TrainingTime training_time;
    SessionFiles files{requests};
    QString session_path;  ///< of the session's file; empty: not saved yet
    ShownPosition shown;
    std::optional<Drag> drag;
    Ghosts ghosts;
    std::set<std::string> used_ids;

  Q_SIGNALS:
    // As in Lab, which passes them on.
    void runsChanged();
    void dataChanged(const QStringList& panels);
    void viewChanged();
    void trainingChanged();
    void noticesChanged();
    void problem(const QString& message);
    void explorationRequested(quint64 generation);
    void sessionPathChanged();

  private:
    struct Workers {
        Workers(int threads, const QString& recordings_folder)
            : io("files", recordings_folder), engine(threads) {}

        // Destroyed in reverse order: the engine first, whose last data is still recorded.
        WorkerThread<IoWorker> io;
        Engines engine;
    };
    const Deliver deliver_;
    std::unique_ptr<Workers> workers_;
};

}  // namespace normscope::app
