// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/comparison.h"
#include "app/lab/engine/engine_worker.h"
#include "app/lab/engine/worker_thread.h"
#include "app/lab/exploration.h"
#include "app/lab/files/io_worker.h"
#include "app/lab/pending.h"
#include "app/lab/session_files.h"
#include "app/lab/studies/remedy_trials.h"
#include "app/lab/studies/sweep_runner.h"
#include "app/lab/training.h"
#include "app/lab/training_time.h"
#include "core/run/probes_preset.h"
#include "widgets/figures/parts/figure_key.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/figures/runs/run_group.h"
#include "widgets/figures/stack/norm_override.h"

#include <QObject>
#include <QUndoStack>
#include <functional>
#include <limits>
#include <optional>
#include <set>

namespace normscope::app {

class ClaimsCheck;
class GalleryRuns;

/// The runs as a window keeps them for the next start.
struct SavedComparison {
    std::vector<SavedRun> runs;
    std::optional<SaveRequest> companion;  ///< nullopt: written already, or nothing to write
};

/// The laboratory: converts user actions to edits of the comparison (comparison.h) and requests to the engine
/// and the files, and their replies to data (exploration.h, training.h, session_files.h); no drawing. Lives
/// in the interface thread and owns the engine's thread and the one of the files.
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

    static constexpr qint64 kNewest = std::numeric_limits<qint64>::max();

    // --- the comparison
    const std::vector<LabRun>& runs() const { return now_.runs; }
    const LabRun& selected() const { return now_.selectedRun(); }
    int selectedRun() const { return now_.selected; }
    void selectRun(int index);
    bool linked() const { return now_.linked; }
    void setLinked(bool linked);
    QUndoStack* undoStack() { return &undo_; }
    /// Keys in which the runs of the comparison differ.
    std::vector<KeyRef> differingKeys() const { return app::differingKeys(now_); }

    /// The default comparison, Pre-LN | Post-LN, as a new session. Undoable, unlike opening one.
    void startOver();
    /// Replaces the comparison by these untrained runs; undoable. `names` as for renameRun(), may be fewer.
    void compare(const std::vector<Recipe>& recipes, const QString& text,
                 const std::vector<std::string>& names = {});
    void addRun(const Recipe& recipe);
    /// For each run that is not a reference, runs of its recipe with the next `count` free seeds; undoable.
    void addSeeds(int count);
    /// Adds a run that starts from another program's model (safetensors, llm.c or llama2.c) and selects it.
    void importModel(const QString& path);
    void removeRun(int index);
    /// Names a run; an empty name gives it back the one after its recipe. Undoable.
    void renameRun(int index, const QString& name);
    /// Replaces the selected run by a preset.
    void loadPreset(const QString& name);
    /// Replaces the selected run by a recipe (completed and validated); a trained run shows it as a preview,
    /// until it is started as a new run.
    void useRecipe(const Recipe& recipe, const QString& text);
    /// Adds an unchanging copy of the selected run.
    void pinSelected();
    /// A new run from the selected run's newest checkpoint at or before the shown step, with the current
    /// knobs.
    void forkSelected();
    /// The reason if forkSelected() would fork nothing, in one line; else empty.
    QString forkObstacle() const;

    // --- knobs. A drag is any number of dragKey() and one commitKey(); it makes one undo entry.
    void beginDrag();
    void dragKey(KeyRef key, const FieldValue& value);
    void commitKey(KeyRef key, const FieldValue& value);
    /// The key of this run and its other seeds alone, whatever is linked; selects it.
    void commitKeyOf(int run, KeyRef key, const FieldValue& value);
    bool dragging() const { return drag_.has_value(); }
    void setNorm(int layer, Sublayer kind, widgets::NormPlace place, bool on, bool all_layers);
    /// Sets the selected run's overrides; `text` names the change in the undo list.
    void setLayers(const std::vector<LayerOverride>& layers, const QString& text);
    /// The runs that setWatch() or setProbes() change: `list` is "watch" or "probes".
    RunIds targetsOfList(KeyRef list) const { return targetsOf(now_, list); }
    /// Sets the watchpoints of the runs that the knobs act on; no run restarts for it. Undoable.
    void setWatch(const std::vector<WatchSpec>& watch);
    /// Sets the probes of the runs that the knobs act on to a preset (nullopt: those that each has) that
    /// measure these places (nullopt: those that each measures); a trained run asks for a new run. Undoable.
    void setProbes(std::optional<ProbesPreset> preset, const std::optional<PlaceSelection>& only);
    /// Sets one key to another recipe's value, in the runs that its knob acts on.
    void resetKey(KeyRef key, const Recipe& from);
    /// For ChangeRuns. Returns the runs until then, those in training that leave as stopped ones.
    /// `selected` is selected where the run selected now is not among them.
    std::vector<LabRun> restoreRuns(const std::vector<LabRun>& runs, const std::string& selected = {});
    /// For ChangeRuns: sets the path, returns the one until then.
    QString exchangeSessionPath(const QString& path);

    // --- devices
    /// Those of this build and machine, best first; empty until they are found (devicesChanged).
    const std::vector<KnownDevice>& devices() const { return devices_; }
    /// The word of the device that the next start, fork or resumption trains on; a run in training keeps its
    /// own. "auto" until the devices are found.
    const std::string& backend() const { return backend_; }
    /// Ignored where it is not available.
    void chooseDevice(const QString& backend);
    int engineThreads() const { return engine_.get()->threads(); }
    /// Measures their free memory again.
    void findDevices() { engine_->findDevices(); }

    // --- training
    bool exploring() const;  ///< no run is trained
    bool playing() const { return training_.playing(); }
    /// What play() does now, or pause() if the training runs.
    enum class Act {
        Pause,
        Continue,     ///< the paused training
        Train,        ///< the runs that are not trained
        StartAsNew,   ///< the runs whose knobs have changed since
        ResumeEnded,  ///< the runs that were stopped or failed before their last step
        None          ///< every run has ended
    };
    Act nextAct() const;
    bool anyTraining() const { return now_.anyTraining(); }
    bool changesPending() const {
        return now_.changesPending();
    }  ///< a trained run's knobs ask for a new run
    void play();
    void pause();
    void togglePlay();
    void singleStep();
    void stop();
    void startAsNewRun();
    /// Continues runs that failed or were interrupted from their newest checkpoints, without one from step 0,
    /// each in its recording; on that device, empty: the chosen one. They start together, when all of their
    /// checkpoints are read.
    void resumeRuns(const std::vector<std::string>& ids, const std::string& backend = {});
    /// Ids of the runs that failed, and a line on each.
    std::vector<std::pair<std::string, QString>> failedRuns() const;

    // --- remedies of failed runs
    /// Of the selected run, else of the first one, that failed; null where none has.
    const RemedyTrials* remedyTrials() const;
    /// Drafts those that are not drafted yet. It is done without asking where it takes seconds.
    void draftRemedies();
    /// Adds a run for each of these remedies (indices of remedyTrials()) and trains them in lock-step;
    /// undoable. More than one are the runs of "Try all".
    void tryRemedies(const std::vector<std::size_t>& which);

    // --- view
    qint64 step() const { return step_; }  ///< scrubbed step; kNewest follows the run
    qint64 lastStep() const;               ///< the largest recorded step; -1 before training
    void setStep(qint64 step);
    int selectedLayer() const { return selected_layer_; }
    void selectLayer(int layer, int head = -1);
    int selectedHead() const { return selected_head_; }
    void setVisibleProbes(const std::vector<std::string>& probes);
    const std::vector<std::string>& visibleProbes() const { return exploration_.probes(); }
    widgets::PanelInput panelInput(const std::string& panel, const widgets::PanelOptions& options) const;
    /// A panel's figure: of the runs, or, where runs differ in the seed alone, of their groups. A panel that
    /// cannot draw groups shows one run of each.
    widgets::Figure figure(const std::string& panel, const widgets::PanelOptions& options) const;
    /// Equal keys, equal figures.
    widgets::FigureKey figureKey(const std::string& panel, const widgets::PanelOptions& options) const;
    /// Runs of one recipe and different seeds are a group; references and forks are by themselves. In the
    /// order of their first runs.
    const widgets::RunGroups& groups() const;
    bool groupsSeeds() const { return group_seeds_; }
    void setGroupSeeds(bool grouped);
    /// For each group the selected run, else the one of its seed, else the first.
    std::vector<std::size_t> onePerGroup() const;

    double stepMs() const { return training_.stepMs(); }
    double probeOverhead() const { return training_.probeOverhead(); }
    const DeviceUse& deviceUse() const { return training_.deviceUse(); }
    bool exact() const { return exploration_.exact(); }  ///< no requested measurement is running

    // --- measuring a step that was not sampled
    /// Replays, for each run that lacks a sample of a shown panel at the shown step, from its nearest
    /// checkpoint to that step, and measures there; cancels a running measurement. Runs that cannot be
    /// replayed are reported in one line (problem).
    void measureHere();
    bool measuring() const { return measuring_.waiting(); }
    /// "measuring Post-LN\nat step 45 …"; empty while nothing is measured.
    QString measuringStatus() const;
    /// The reason if measureHere() would measure nothing, in one line; else empty.
    QString measureObstacle() const;

    // --- files
    /// The kinds of the requests that wait for their replies, one entry a request: none is forgotten.
    std::vector<std::string> waitingRequests() const { return requests_.waiting(); }
    /// Of the session's file; empty: not saved yet. Set when the file was opened or saved.
    const QString& sessionPath() const { return session_path_; }
    /// Of a restored window; `changed`: the file was written by another program since.
    void setSessionPath(const QString& path, bool changed = false);
    /// Saves the current runs, their checkpoints and a view. Returns the token that sessionSaved() or
    /// savingFailed() will carry. A file that another program writes is not replaced, nor one that has
    /// changed since this laboratory read or saved it, unless this is done on purpose.
    quint64 saveSession(const QString& path, const std::string& view_json, bool on_purpose = false);
    /// Whether anything was changed, trained or measured since the session was saved or opened.
    bool unsaved() const { return !undo_.isClean() || files_.resultsUnsaved(); }
    /// A large one is shown in outline first (core/session/outline.h), and its rest is read at once.
    void openSession(const QString& path);
    /// The reason why something needs data that are not read yet, in one line; empty: everything is read.
    QString notReadYet() const;
    void findInterrupted();
    /// Asks for the files of the folder of recordings; recordingsListed() and curveRead() answer.
    void listRecordings();
    void readCurve(const QString& path);
    /// Adds the runs of recordings to the comparison, the last of them selected; undoable. Those that it has
    /// already are selected.
    void addRecordings(const QStringList& paths);
    /// Moves a recording to the system's trash; recordingTrashed() answers. Not one of the comparison.
    void trashRecording(const QString& path);
    void untrash(const QList<std::pair<QString, QString>>& files);
    /// The run of the comparison that is recorded there; null: none.
    const LabRun* recordedIn(const QString& path) const;
    /// The runs as the next start restores them; `companion`: the file for what no recording has. `closing`:
    /// also of runs in training.
    SavedComparison savedComparison(const QString& companion, bool closing);
    void saveWindow(const SaveWindowRequest& request);
    /// Waits for the files' thread. False where it cannot be written, which is reported.
    bool saveWindowNow(const SaveWindowRequest& request);
    /// Replaces the comparison by that of an earlier window; comparisonRestored() follows, unless another
    /// session is opened meanwhile. A run whose file cannot be read is reported, and is there untrained.
    void restore(const std::vector<SavedRun>& runs, const QString& companion);
    /// The runs of "Try all", by the id of the failed run.
    std::map<std::string, std::vector<std::string>> attemptedRemedies() const;
    void restoreTried(const std::map<std::string, std::vector<std::string>>& tried);
    void resume(const QStringList& recordings);
    void reopen(const QStringList& recordings);
    /// Sweeps are read and trained next to the comparison.
    SweepRunner& sweeps() { return *sweeps_; }
    /// The claims of the selected run.
    ClaimsCheck& claims() const { return *claims_; }
    /// The papers' figures as sweeps.
    GalleryRuns& gallery() const { return *gallery_; }
    /// The knobs of each run from a session's view; unknown ids are ignored.
    struct RunKnobs {
        Recipe recipe, live;
        bool pinned = false;
        std::string name = {};  ///< given; empty: named after its recipe
    };
    void setKnobRecipes(const std::map<std::string, RunKnobs>& knobs);

  public Q_SLOTS:
    /// Applies a reply of the engine. Replies to older requests and duplicates are dropped; one that arrives
    /// too early waits for its predecessors.
    void applyFrame(const normscope::app::FramePtr& frame);

  Q_SIGNALS:
    void runsChanged();                           ///< the list, names, recipes, outcomes
    void dataChanged(const QStringList& panels);  ///< new values for these panels
    void viewChanged();                           ///< step, selection: all figures change
    void trainingChanged();                       ///< playing, pending changes, speed
    void draggingChanged(bool dragging);
    void measuringChanged();
    void noticesChanged();  ///< a run's rejection, its gate warnings, or that it is not recorded
    void problem(const QString& message);
    void devicesChanged();  ///< found, chosen, or their memory
    void runsFailed();      ///< failedRuns() has one more
    /// Watchpoints triggered, one line each; training is paused.
    void watchTriggered(const QStringList& lines);
    void remediesChanged();  ///< remedyTrials()
    void recordingsAdded();  ///< a reply to addRecordings() was applied
    /// `present`: it is the session on screen, not one that was left since.
    void sessionSaved(const QString& path, quint64 token, bool present);
    void savingFailed(quint64 token);
    /// It has replaced the comparison. Not sent where it cannot be opened.
    void sessionOpened(const normscope::app::OpenedSessionPtr& session);
    void sessionPathChanged();
    void recordingsListed(const QList<normscope::app::RecordingRow>& rows, bool complete);
    void curveRead(const QString& path, const normscope::app::RecordingCurve& curve);
    void recordingTrashed(const QString& path, const QList<std::pair<QString, QString>>& files);
    void comparisonRestored();    ///< of restore(), without its view yet
    void windowSaved(bool kept);  ///< saveWindow(): false, it cannot be written
    void interruptedFound(const QList<normscope::app::InterruptedRun>& runs);
    /// For measurements of the interface: a request goes to the engine; a frame has arrived, in order, and
    /// was applied.
    void explorationRequested(quint64 generation);
    void frameArrived(const normscope::app::FramePtr& frame);
    void frameTaken(const normscope::app::FramePtr& frame);

  private:
    // Connects replies, in the order of their members.
    void connectReplies();
    void takeInOrder(const FramePtr& frame);
    void applyRejected(quint64 generation, const QString& message);
    void applyStartRejected(quint64 token, const QString& id, const QString& message);
    void applyNotRecorded(quint64 training, const QString& id, const QString& line);
    void applyDevices(const DevicesPtr& devices);
    void applyRecordingBegun(quint64 training, const QString& id, const QString& path);
    void applySaved(quint64 token, const QString& path, const FileIdentity& file);
    void applySavingFailed(quint64 token);
    void applyOpened(quint64 token, const OpenedSessionPtr& opened);
    void applyRemainder(const RemainderReplyPtr& reply);
    void applyRecovered(quint64 token, const QList<RecoveredRun>& recovered);
    void applyAdded(const QList<RecoveredRun>& recovered);
    void applyRestored(quint64 token, const RestoredRunsPtr& restored_runs);
    void applyImported(quint64 token, const QString& path, const ImportedModelPtr& model);
    void applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint);
    void applyFetched(const MeasureRequestPtr& request);
    void applyReplayed(quint64 token, const QString& id, qint64 steps_done);
    void applyMeasured(quint64 token, const QString& id, const ProbeResultsPtr& results,
                       const QString& failed);

    const KnownCheckpoint* forkPoint() const;
    const LabRun* failedRun() const;
    void updateRemedies();
    void applyDrafted(quint64 token, qulonglong index, const DraftResultPtr& result);

    std::string newId();
    /// Applies an edit as one undo entry. Runs that it removes stop training.
    void commit(Comparison after, const QString& text, std::optional<QString> previous_path = {});
    /// Stops the training of those of these runs that are not in `after`.
    std::vector<LabRun> stopRemovedRuns(std::vector<LabRun> before, const Comparison& after);
    void commitList(KeyRef key, const std::function<Recipe(const Recipe&)>& changed, const QString& text);
    void nameGhosts(KeyRef key);
    void clearGhosts();
    std::vector<LabRun> beforeDrag(std::vector<LabRun> runs) const;
    void applyRecipes();
    void requestExplore();
    void begin(std::vector<RunPlan> plans, Training::Data before = {});
    void restore(Opening opening);
    void recover(const QStringList& recordings, bool resume);
    quint64 askToReplace(Opening opening);
    void openingFailed(const Opening& opening);
    void applyWindowSaved(quint64 token, bool kept);
    void emitChanges(const Changes& changes);
    void replaceRuns(std::vector<LabRun> runs);
    FirstReading firstReading() const;
    void readRemainder();
    void cancelReading();
    widgets::Figure figureOf(const std::string& panel, const widgets::PanelOptions& options,
                             widgets::PanelInput input) const;
    void closeSession();
    QString hint() const;
    /// The missing samples of the shown step that can be replayed, per run; `why_not` gets a line for each
    /// that cannot.
    std::vector<MeasurePlan> lacking(QStringList& why_not) const;
    void endMeasuring();

    std::function<void(std::function<void()>)> deliver_;
    std::vector<KnownDevice> devices_;
    std::string backend_;
    Comparison now_;
    PendingRequests requests_;
    Exploration exploration_{requests_};
    Training training_{requests_};
    TrainingTime training_time_;
    SessionFiles files_{requests_};
    QString session_path_;
    int selected_layer_ = -1, selected_head_ = -1;
    qint64 step_ = kNewest;
    QUndoStack undo_;
    /// Runs by id: they may be added or removed during a drag.
    struct Drag {
        std::map<std::string, Recipe> before;  ///< recipes at the start of the drag
        std::optional<KeyRef> key;
        RunIds targets;
    };
    std::optional<Drag> drag_;
    /// The data before the last knob was moved, until the next edit, and the knob's old value: "Δt 1".
    std::map<std::string, std::shared_ptr<const RunData>> ghosts_;
    QString ghost_name_;
    /// What groups() depends on; none: not computed yet.
    struct GroupedRun {
        Recipe recipe;
        std::string name, given_name;
        RunState state;
        bool pinned;
        bool operator==(const GroupedRun&) const = default;
    };
    mutable std::optional<std::vector<GroupedRun>> grouped_runs_;
    mutable widgets::RunGroups groups_;
    bool group_seeds_ = true;
    std::set<std::string> used_ids_;  ///< ids are never reused: recordings and undo entries refer to them
    struct Fork {
        std::string parent;
        LabRun run;
        std::string parent_name;
    };
    Pending<Fork> forks_{requests_, "fork", Pending<Fork>::Replies::OfEach};
    /// Runs that are resumed together, once the checkpoints of all are read.
    struct Resumption {
        std::string backend;
        std::size_t unread = 0;
        std::vector<std::pair<std::string, CheckpointPtr>> runs;  ///< null: from step 0
    };
    struct ResumedRun {
        std::string id;
        std::shared_ptr<Resumption> with;
    };
    Pending<ResumedRun> resumptions_{requests_, "resume", Pending<ResumedRun>::Replies::OfEach};
    void beginResumed(const Resumption& resumption);
    void applyFork(Fork fork, const CheckpointPtr& checkpoint);
    std::size_t outline_above_;
    std::set<std::shared_ptr<const UnreadRun>> requested_;  ///< outlines that are being read, or cannot be
    Pending<RemainderRequestPtr> rests_{requests_, "rest", Pending<RemainderRequestPtr>::Replies::OfEach,
                                        PendingKind::Owner::Session,
                                        [](RemainderRequestPtr& request) { request->cancelled = true; }};
    std::map<std::string, std::set<std::string>> saved_runs_;  ///< ids by session file, as saved last
    /// What the companion file of the window's state has, of each run.
    struct SavedData {
        std::string id;
        std::shared_ptr<const RunData> data;
        std::size_t rows, samples;
        bool operator==(const SavedData&) const = default;
    };
    std::vector<SavedData> cached_for_, caching_for_;  ///< as written; of the last savedComparison()
    Pending<std::vector<SavedData>> saving_window_{requests_, "keep window",
                                                   Pending<std::vector<SavedData>>::Replies::OfEach,
                                                   PendingKind::Owner::Window};
    std::map<std::uint64_t, FramePtr> early_;  ///< frames that arrived before an earlier one
    std::uint64_t next_frame_ = 1;

    /// The running request and its progress.
    struct Measuring {
        std::int64_t step = 0;
        std::vector<std::string> waiting;  ///< ids of runs; the first is running
        std::int64_t steps_done = -1;      ///< of its replay
        bool fetched = false;              ///< the engine has it
    };
    Pending<Measuring> measuring_{requests_, "measure", Pending<Measuring>::Replies::OfNewest};

    std::map<std::string, RemedyTrials> remedies_;  ///< by the id of the failed run
    /// The id of failedRun() as it was last seen; empty: none. Nullopt: of another session.
    std::optional<std::string> remedies_shown_ = std::string();
    struct Drafting {
        std::string run;                 ///< the failed one
        std::set<std::size_t> remedies;  ///< that are not drafted yet
    };
    Pending<Drafting> drafting_{requests_, "draft", Pending<Drafting>::Replies::OfNewest};
    void cancelDrafts();

    // Destroyed in reverse order: the engine first, whose last data is still recorded.
    WorkerThread<IoWorker> io_;
    WorkerThread<EngineWorker> engine_;
    std::unique_ptr<SweepRunner> sweeps_;  ///< its recordings are written in the thread of the files
    std::unique_ptr<ClaimsCheck> claims_;  ///< it reads checkpoints there, and the gallery recordings
    std::unique_ptr<GalleryRuns> gallery_;
};

}  // namespace normscope::app
