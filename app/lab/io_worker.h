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

/// An unfinished run of another process in the folder of recordings: interrupted or failed.
struct InterruptedRun {
    QString path, name;
    qint64 step = -1;  ///< the last recorded one
};

/// A run read from its recording, to be opened or resumed.
struct RecoveredRun {
    QString path;
    RunDataPtr data;
    CheckpointPtr checkpoint;  ///< the newest; null if none
    CheckpointPtr start;       ///< the one of step 0; null if none
    StartWeightsPtr weights;   ///< its start weights; null if drawn from the seed
};

struct OpenedSession {
    QString path;
    Session session;                             ///< without its runs
    std::vector<std::shared_ptr<RunData>> runs;  ///< for the laboratory that takes the reply: long runs are large
    std::map<std::string, StartWeightsPtr> weights;  ///< of the runs with given start weights
};
using OpenedSessionPtr = std::shared_ptr<const OpenedSession>;

using ImportedModelPtr = std::shared_ptr<const ImportedModel>;

struct SaveRequest {
    quint64 token = 0;
    QString path;
    std::vector<RunDataPtr> runs;
    std::string view_json;
    std::vector<CheckpointSource> checkpoints;
    /// The weights of untrained runs that the session must keep, by index in `runs`.
    std::map<std::size_t, StartWeightsPtr> weights;
};

/// Owns every HDF5 call of the window: live recordings with their checkpoints, sessions. Lives in its own
/// thread; the slots are called through queued connections. Nothing here throws: failed writes are reported
/// by problem().
class IoWorker : public QObject {
    Q_OBJECT
  public:
    explicit IoWorker(QString recordings_folder);
    ~IoWorker() override;

  public Q_SLOTS:
    /// Takes and records the whole queue.
    void record(const std::shared_ptr<normscope::RecordingQueue>& queue);

    void saveSession(const normscope::app::SaveRequest& request);
    // A reply has the token of its request, so that stale replies are dropped.
    void openSession(quint64 token, const QString& path);
    void findInterrupted();
    void recoverRuns(quint64 token, const QStringList& paths);
    void loadCheckpoint(quint64 token, const normscope::CheckpointSource& source);
    /// Reads the start checkpoints of a request's runs; an unreadable one fails only its run.
    void fetchCheckpoints(const normscope::app::MeasureRequestPtr& request);
    /// Reads another program's model; may take long for files of gigabytes.
    void importModel(quint64 token, const QString& path);

  Q_SIGNALS:
    void problem(const QString& message);
    /// A recording begins in this file.
    void recordingBegun(const QString& id, const QString& path);
    /// The run continues without being recorded: "not recorded: …", one line.
    void notRecorded(const QString& id, const QString& line);
    void sessionSaved(quint64 token, const QString& path);
    void savingFailed(quint64 token);  ///< the reason was sent by problem()
    void sessionOpened(quint64 token, const normscope::app::OpenedSessionPtr& session);
    void interruptedFound(const QList<normscope::app::InterruptedRun>& runs);
    void runsRecovered(quint64 token, const QList<normscope::app::RecoveredRun>& runs);
    void modelImported(quint64 token, const QString& path, const normscope::app::ImportedModelPtr& model);
    /// Null where it cannot be read; the reason was sent by problem().
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
