// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/frame.h"
#include "app/lab/measure_request.h"
#include "core/interchange/model_file.h"
#include "core/run/recording.h"
#include "core/run/recording_queue.h"
#include "core/session/session.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <vector>

class QTimer;

namespace normscope::app {

/// A run that some other process left unfinished in the folder of recordings.
struct InterruptedRun {
    QString path, name;
    qint64 step = -1;  ///< the last recorded one
};

/// A run read back from its recording, to be looked at or to be continued.
struct RecoveredRun {
    QString path;
    RunDataPtr data;
    CheckpointPtr checkpoint;  ///< the newest; null where there is none
    CheckpointPtr start;       ///< the one of step 0; null where there is none
    StartWeightsPtr weights;   ///< that it started from; null where they were drawn
};

struct OpenedSession {
    QString path;
    Session session;
    std::map<std::string, StartWeightsPtr> weights;  ///< of the runs that did not start from drawn ones
};
using OpenedSessionPtr = std::shared_ptr<const OpenedSession>;

using ImportedModelPtr = std::shared_ptr<const ImportedModel>;

struct SaveRequest {
    quint64 token = 0;
    QString path;
    std::vector<RunDataPtr> runs;
    std::string view_json;
    std::vector<CheckpointSource> checkpoints;
    /// Runs nobody trained yet whose weights the session must keep, by their place in `runs`.
    std::map<std::size_t, StartWeightsPtr> weights;
};

/// Owns every HDF5 call of the window: live recordings with their checkpoints, sessions. Lives in a thread of
/// its own; the slots are called through queued connections. Nothing here throws: what the disk refuses
/// becomes problem().
class IoWorker : public QObject {
    Q_OBJECT
  public:
    explicit IoWorker(QString recordings_folder);
    ~IoWorker() override;

  public Q_SLOTS:
    /// Takes and records everything that waits.
    void record(const std::shared_ptr<normscope::RecordingQueue>& queue);

    void saveSession(const normscope::app::SaveRequest& request);
    // A reply carries the token of its request: who asked for something else since drops it.
    void openSession(quint64 token, const QString& path);
    void findInterrupted();
    void recoverRuns(quint64 token, const QStringList& paths);
    void loadCheckpoint(quint64 token, const normscope::CheckpointSource& source);
    /// Reads the checkpoints that the runs of a request start from; one that cannot be read fails its run alone.
    void fetchCheckpoints(const normscope::app::MeasureRequestPtr& request);
    /// Reads another program's model; files of gigabytes take their time.
    void importModel(quint64 token, const QString& path);

  Q_SIGNALS:
    void problem(const QString& message);
    /// The run trains on, but nothing more of it is recorded: "not recorded: …", one line.
    void notRecorded(const QString& id, const QString& line);
    void sessionSaved(quint64 token, const QString& path);
    void savingFailed(quint64 token);  ///< problem() said why
    void sessionOpened(quint64 token, const normscope::app::OpenedSessionPtr& session);
    void interruptedFound(const QList<normscope::app::InterruptedRun>& runs);
    void runsRecovered(quint64 token, const QList<normscope::app::RecoveredRun>& runs);
    void modelImported(quint64 token, const QString& path, const normscope::app::ImportedModelPtr& model);
    /// Null where it cannot be read; problem() said why.
    void checkpointLoaded(quint64 token, const normscope::app::CheckpointPtr& checkpoint);
    void checkpointsFetched(const normscope::app::MeasureRequestPtr& request);

  private:
    /// `path` is replaced; empty: a new file.
    void begin(const RunDataPtr& header, const std::string& path);
    void lose(const QString& id, const QString& reason);
    template <class Work>
    void withRecording(const QString& id, Work&& work);
    QString newPath(const std::string& id) const;
    void heartbeat();
    template <class Work>
    bool guarded(Work&& work);

    QString folder_;
    std::map<QString, std::unique_ptr<Recording>> recordings_;
    QTimer* heartbeat_ = nullptr;
};

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::InterruptedRun)
Q_DECLARE_METATYPE(normscope::app::RecoveredRun)
Q_DECLARE_METATYPE(normscope::app::OpenedSessionPtr)
Q_DECLARE_METATYPE(normscope::app::ImportedModelPtr)
Q_DECLARE_METATYPE(normscope::app::SaveRequest)
Q_DECLARE_METATYPE(normscope::CheckpointSource)
