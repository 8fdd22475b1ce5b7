// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/follow_request.h"
#include "app/lab/engine/frame.h"
#include "app/lab/engine/lab_run.h"
#include "app/lab/engine/measure_request.h"
#include "core/findings/healthy_band.h"
#include "core/interchange/model_file.h"
#include "core/run/live_recordings.h"
#include "core/run/recording_queue.h"
#include "core/session/outline.h"
#include "core/session/session.h"
#include "widgets/figures/runs/recording_row.h"

#include <QDateTime>
#include <QFileInfo>
#include <QMetaType>
#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

class QTimer;

namespace normscope::app {

/// An unfinished run of another process in the folder of recordings: interrupted or failed.
struct InterruptedRun {
    QString path, name;
    qint64 step = -1;  ///< the last recorded one
};

using widgets::curveOf;
using widgets::RecordingCurve;
using widgets::RecordingRow;

/// A run read from its recording, to be opened or resumed.
struct RecoveredRun {
    QString path;
    RunDataPtr data;
    CheckpointPtr checkpoint;  ///< the newest; null if none
    CheckpointPtr start;       ///< the one of step 0; null if none
    StartWeightsPtr weights;   ///< its start weights; null if drawn from the seed
    FileIdentity file = {};    ///< as it was before it was read
};

struct OpenedSession {
    QString path;
    FileIdentity file;  ///< as it was before it was read
    Session session;    ///< without its runs
    std::vector<std::shared_ptr<RunData>>
        runs;  ///< for the laboratory that takes the reply: long runs are large
    std::map<std::string, StartWeightsPtr> weights;  ///< of the runs with given start weights
};
using OpenedSessionPtr = std::shared_ptr<const OpenedSession>;

using HealthyBandPtr = std::shared_ptr<const HealthyBand>;

using ImportedModelPtr = std::shared_ptr<const ImportedModel>;

/// A run as a window keeps it between starts: its recipe, and where its data are.
struct SavedRun {
    std::string id, name, drawn_name, not_recorded;
    Recipe recipe;
    std::string recording, session;  ///< both empty: in the companion file, or it has no data
    bool companion = false;          ///< in the companion file, all or the samples that are only there
};

/// Null: it has no data, or they cannot be read, which was reported.
struct RestoredRun {
    std::string id;
    std::shared_ptr<const LabRun> run;
};
using RestoredRunsPtr = std::shared_ptr<const std::vector<RestoredRun>>;

struct SaveRequest {
    quint64 token = 0;
    QString path;
    std::vector<RunDataPtr> runs;
    std::string view_json;
    std::vector<CheckpointSource> checkpoints;
    /// The weights of untrained runs that the session must keep, by index in `runs`.
    std::map<std::size_t, StartWeightsPtr> weights;
    /// The file as it was read or saved last, which is not replaced if it has changed since; nullopt: what is
    /// there is replaced on purpose.
    std::optional<FileIdentity> as_read = {};
};

/// How a session is read at first: files of more than `most_bytes` in outline, with the samples of these
/// probes.
struct FirstReading {
    std::vector<std::string> probes;
    std::size_t most_bytes = whole_file_bytes;
};
/// The session of a file, with the start weights of its runs; calls HDF5. Throws InputError.
OpenedSessionPtr readSession(const QString& path, const FirstReading& first);

/// Outlines to read the rest of.
struct RemainderRequest {
    quint64 token = 0;  ///< of the reply
    std::vector<std::shared_ptr<const UnreadRun>> runs;
    std::atomic<bool> cancelled = false;  ///< set by the interface thread; there is no reply then
};
using RemainderRequestPtr = std::shared_ptr<RemainderRequest>;
/// By place in the request; nullopt where it cannot be read. For the laboratory, which moves it into its
/// runs.
struct RemainderReply {
    RemainderRequestPtr request;
    std::vector<std::optional<RunRemainder>> rests;
    QString problem;  ///< the first one, a line
};
using RemainderReplyPtr = std::shared_ptr<RemainderReply>;
/// Returns the file that it wrote. Calls HDF5. Throws InputError, NotReplaceable, SystemError.
FileIdentity writeSession(const SaveRequest& request);

/// The state of a window, kept between starts.
struct SaveWindowRequest {
    QString path;  ///< of the state, a JSON text
    std::string text;
    /// The data that no recording and no session has, in its companion file; nullopt: as it is.
    std::optional<SaveRequest> companion;
};

/// Owns every HDF5 call of the window: live recordings with their checkpoints, sessions. Lives in its own
/// thread; the slots are called through queued connections. Nothing here throws: what fails is reported by
/// problem(), and every request with a token has one reply with that token, also if it fails.
class IoWorker : public QObject {
    Q_OBJECT
  public:
    explicit IoWorker(QString recordings_folder);
    ~IoWorker() override;

  public Q_SLOTS:
    /// Takes and records the whole queue.
    void record(const std::shared_ptr<normscope::RecordingQueue>& queue);

    void saveSession(const normscope::app::SaveRequest& request);
    void openSession(quint64 token, const QString& path, const normscope::app::FirstReading& first);
    /// Answered when all are read; what else is requested comes between two runs.
    void readRemainder(const normscope::app::RemainderRequestPtr& request);
    /// Nothing is changed: files are removed only on request.
    void findInterrupted();
    /// The files of the folder, the newest first; of each that changed since the last list its head is read.
    /// Answered by and by: what is to be recorded comes between.
    void listRecordings();
    void readCurve(const QString& path);
    /// Moves a recording and its checkpoints to the system's trash; none that is being written, by this
    /// window or another.
    void trashRecording(const QString& path);
    /// Moves files back: where they are and where they were. Their entries in the trash are removed.
    void untrash(const QList<std::pair<QString, QString>>& files);
    /// Writes a window's state. False where it cannot be written, which is reported once.
    bool saveWindow(quint64 token, const normscope::app::SaveWindowRequest& request);
    /// Reads the runs of a window's state; `companion`: its companion file.
    void restoreRuns(quint64 token, const std::vector<normscope::app::SavedRun>& kept,
                     const QString& companion, const normscope::app::FirstReading& first);
    void recoverRuns(quint64 token, const QStringList& paths);
    /// Reads what other processes have added to their recordings.
    void follow(const normscope::app::FollowRequest& request);
    void loadCheckpoint(quint64 token, const normscope::CheckpointSource& source);
    /// Reads the start checkpoints of a request's runs; an unreadable one fails only its run.
    void fetchCheckpoints(const normscope::app::MeasureRequestPtr& request);
    /// Reads another program's model; may take long for files of gigabytes.
    void importModel(quint64 token, const QString& path);
    /// Reads the healthy runs of a folder and makes their band; seconds for hundreds of runs.
    void readHealthy(quint64 token, const QString& folder, double rate);

  Q_SIGNALS:
    void problem(const QString& message);
    /// A recording begins in this file; `training`: the start of the run (RunPlan::training).
    void recordingBegun(quint64 training, const QString& id, const QString& path);
    /// The run continues without being recorded: "not recorded: …", one line.
    void notRecorded(quint64 training, const QString& id, const QString& line);
    void sessionSaved(quint64 token, const QString& path, const normscope::FileIdentity& file);
    void savingFailed(quint64 token);  ///< the reason was sent by problem()
    /// Null where it cannot be read; the reason was sent by problem().
    void sessionOpened(quint64 token, const normscope::app::OpenedSessionPtr& session);
    void remainderRead(const normscope::app::RemainderReplyPtr& reply);
    void interruptedFound(const QList<normscope::app::InterruptedRun>& runs);
    void followed(const normscope::app::FollowReplyPtr& reply);
    void runsRecovered(quint64 token, const QList<normscope::app::RecoveredRun>& runs);
    void recordingsListed(const QList<normscope::app::RecordingRow>& rows, bool complete);
    void curveRead(const QString& path, const normscope::app::RecordingCurve& curve);
    /// Where its files are now and where they were, for untrash().
    void recordingTrashed(const QString& path, const QList<std::pair<QString, QString>>& files);
    void windowSaved(quint64 token, bool kept);
    void runsRestored(quint64 token, const normscope::app::RestoredRunsPtr& runs);
    /// Null where it cannot be read; the reason was sent by problem().
    void modelImported(quint64 token, const QString& path, const normscope::app::ImportedModelPtr& model);
    /// Null where there is no band; the reason was sent by problem().
    void healthyRead(quint64 token, const QString& folder, const normscope::app::HealthyBandPtr& band);
    /// Null where it cannot be read; the reason was sent by problem().
    void checkpointLoaded(quint64 token, const normscope::app::CheckpointPtr& checkpoint);
    void checkpointsFetched(const normscope::app::MeasureRequestPtr& request);

  private:
    void settle(const QString& path);
    RecoveredRun recovered(const QString& path);
    void listSome();
    void readNext(const RemainderReplyPtr& reply);
    RecordingRow rowOf(const QFileInfo& file);
    /// Reports what `work` throws; false then.
    template <class Work>
    bool guarded(Work&& work);

    QString folder_;
    LiveRecordings recordings_;
    QTimer* heartbeat_ = nullptr;
    bool saving_failed_ = false;
    std::map<QString, FileIdentity> saved_;  ///< by path, as it was saved last by this window
    QFileInfoList to_list_;
    QList<RecordingRow> listed_;
    std::map<QString, std::pair<qint64, RecordingRow>> heads_;  ///< by path, with the size of the file
};

template <class Work>
bool IoWorker::guarded(Work&& work) {
    try {
        work();
        return true;
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return false;
    }
}

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::InterruptedRun)
Q_DECLARE_METATYPE(normscope::widgets::RecordingRow)
Q_DECLARE_METATYPE(normscope::widgets::RecordingCurve)
Q_DECLARE_METATYPE(normscope::app::RecoveredRun)
Q_DECLARE_METATYPE(normscope::app::OpenedSessionPtr)
Q_DECLARE_METATYPE(normscope::app::ImportedModelPtr)
Q_DECLARE_METATYPE(normscope::app::HealthyBandPtr)
Q_DECLARE_METATYPE(normscope::app::SaveRequest)
Q_DECLARE_METATYPE(normscope::app::RemainderReplyPtr)
Q_DECLARE_METATYPE(normscope::app::RestoredRunsPtr)
Q_DECLARE_METATYPE(normscope::CheckpointSource)
Q_DECLARE_METATYPE(normscope::FileIdentity)
