// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/devices.h"
#include "app/lab/following.h"
#include "app/lab/forks.h"
#include "app/lab/knobs.h"
#include "app/lab/lab_session.h"
#include "app/lab/lab_view.h"
#include "app/lab/measurement.h"
#include "app/lab/recordings.h"
#include "app/lab/remedies.h"
#include "app/lab/run_list.h"
#include "app/lab/state/comparison.h"
#include "app/lab/studies/sweep_runner.h"
#include "app/lab/training_control.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

class ClaimsCheck;
class Edits;
class GalleryRuns;
class HealthyReference;
class LabState;
class Notes;
class Outlines;

/// The laboratory: converts user actions to edits of the comparison (state/comparison.h) and requests to the
/// engine and the files, and their replies to data (state/exploration.h, state/training.h); no drawing. What
/// it does is in its parts, each a class of its own; it owns them with what they share (state/lab_state.h),
/// and applies the engine's frames. Lives in the interface thread; the engine and the files have threads of
/// their own.
class Lab : public QObject {
    Q_OBJECT
  public:
    struct Options {
        int threads = 0;  ///< of the engine; 0 = all cores but one, at least one
        QString recordings_folder;
        /// How a reply of the engine or the files is applied; empty: directly. Tests apply replies late,
        /// twice, or in another order.
        std::function<void(std::function<void()>)> deliver = {};
        /// The device of trainings (core/backend/devices/devices.h); the CPU where it is not available.
        std::string backend = "cpu";
        /// Sessions of more bytes are opened in outline (core/session/outline.h).
        std::size_t outline_above = whole_file_bytes;
    };
    explicit Lab(Options options, QObject* parent = nullptr);
    ~Lab() override;

    /// The runs side by side, as they are now.
    const Comparison& comparison() const;

    // The parts. Each edits or shows the comparison.
    RunList& runs() const { return *runs_; }
    Knobs& knobs() const { return *knobs_; }
    TrainingControl& training() const { return *training_; }
    Forks& forks() const { return *forks_; }
    Devices& devices() const { return *devices_; }
    /// Of failed runs.
    Remedies& remedies() const { return *remedies_; }
    LabView& view() const { return *view_; }
    /// Of a step that was not sampled.
    Measurement& measurement() const { return *measurement_; }
    Notes& notes() const { return *notes_; }
    HealthyReference& healthy() const { return *healthy_; }
    LabSession& session() const { return *session_; }
    Recordings& recordings() const { return *recordings_; }
    /// Of runs that other processes write.
    Following& following() const { return *following_; }
    /// Sweeps are read and trained next to the comparison.
    SweepRunner& sweeps() const { return *sweeps_; }
    /// The claims of the selected run.
    ClaimsCheck& claims() const { return *claims_; }
    /// The papers' figures as sweeps.
    GalleryRuns& gallery() const { return *gallery_; }

    /// The kinds of the requests that wait for their replies, one entry a request: none is forgotten.
    std::vector<std::string> waitingRequests() const;

  public Q_SLOTS:
    /// Applies a reply of the engine. Replies to older requests and duplicates are dropped; one that arrives
    /// too early waits for its predecessors.
    void applyFrame(const normscope::app::FramePtr& frame);

  Q_SIGNALS:
    void runsChanged();                           ///< the list, names, recipes, outcomes
    void dataChanged(const QStringList& panels);  ///< new values for these panels
    void viewChanged();                           ///< step, selection: all figures change
    void trainingChanged();                       ///< playing, pending changes, speed
    void noticesChanged();  ///< a run's rejection, its gate warnings, or that it is not recorded
    void problem(const QString& message);
    /// The connection to another machine was made, cut, or is given up: one line.
    void connectionChanged(const QString& line);
    void runsFailed();  ///< TrainingControl::failedRuns() has one more
    /// Watchpoints triggered, one line each; training is paused.
    void watchTriggered(const QStringList& lines);
    /// For measurements of the interface: a request goes to the engine; a frame has arrived, in order, and
    /// was applied.
    void explorationRequested(quint64 generation);
    void frameArrived(const normscope::app::FramePtr& frame);
    void frameTaken(const normscope::app::FramePtr& frame);

  private:
    void connectState();
    void takeInOrder(const FramePtr& frame);
    void applyRejected(quint64 generation, const QString& message);
    void report(const Changes& changes);

    /// The frames of one engine.
    struct Arrivals {
        std::map<std::uint64_t, FramePtr> early;  ///< those that arrived before an earlier one
        std::uint64_t next = 1;
    };
    std::map<std::uint64_t, Arrivals> arrivals_;  ///< by engine

    // Each part gets those above it by reference.
    std::unique_ptr<LabState> state_;
    std::unique_ptr<Outlines> outlines_;
    std::unique_ptr<Edits> edits_;
    std::unique_ptr<RunList> runs_;
    std::unique_ptr<Knobs> knobs_;
    std::unique_ptr<Devices> devices_;
    std::unique_ptr<TrainingControl> training_;
    std::unique_ptr<Forks> forks_;
    std::unique_ptr<Remedies> remedies_;
    std::unique_ptr<HealthyReference> healthy_;
    std::unique_ptr<LabView> view_;
    std::unique_ptr<Measurement> measurement_;
    std::unique_ptr<Notes> notes_;
    std::unique_ptr<LabSession> session_;
    std::unique_ptr<Recordings> recordings_;
    std::unique_ptr<Following> following_;
    std::unique_ptr<SweepRunner> sweeps_;  ///< its recordings are written in the thread of the files
    std::unique_ptr<ClaimsCheck> claims_;  ///< it reads checkpoints there, and the gallery recordings
    std::unique_ptr<GalleryRuns> gallery_;
};

}  // namespace normscope::app
