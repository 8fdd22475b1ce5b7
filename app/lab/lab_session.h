// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/pending.h"
#include "app/lab/state/session_files.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope::app {

class Edits;
class Knobs;
class LabState;
class Measurement;
class Notes;
class Outlines;
class Remedies;
class TrainingControl;

/// The runs as a window keeps them for the next start.
struct SavedComparison {
    std::vector<SavedRun> runs;
    std::optional<SaveRequest> companion;  ///< nullopt: written already, or nothing to write
};

/// The session: the file that it is saved in, what replaces it (another file, recordings, a new comparison),
/// and its runs as a window keeps them for the next start. Interface thread.
class LabSession : public QObject {
    Q_OBJECT
  public:
    /// The parts that a session is left with.
    struct Parts {
        Edits& edits;
        Outlines& outlines;
        Knobs& knobs;
        TrainingControl& training;
        Measurement& measurement;
        Remedies& remedies;
        Notes& notes;
    };
    /// Sessions of more bytes than `outline_above` are opened in outline (core/session/outline.h).
    LabSession(LabState& state, const Parts& parts, std::size_t outline_above);

    /// Of the session's file; empty: not saved yet. Set when the file was opened or saved.
    const QString& path() const;
    /// Of a restored window; `changed`: the file was written by another program since.
    void setPath(const QString& path, bool changed = false);
    /// Whether anything was changed, trained or measured since the session was saved or opened.
    bool unsaved() const;
    /// Saves the current runs, their checkpoints and a view. Returns the token that saved() or savingFailed()
    /// will carry. A file that another program writes is not replaced, nor one that has changed since this
    /// laboratory read or saved it, unless this is done on purpose.
    quint64 save(const QString& path, const std::string& view_json, bool on_purpose = false);

    /// A large one is shown in outline first, and its rest is read at once.
    void open(const QString& path);
    /// The default comparison, Pre-LN | Post-LN, as a new session. Undoable, unlike opening one.
    void startOver();
    /// Replaces the comparison by the runs of recordings, whose training continues.
    void resume(const QStringList& recordings);
    /// The same without training.
    void reopen(const QStringList& recordings);
    /// Replaces the comparison by that of an earlier window; restored() follows, unless another session is
    /// opened meanwhile. A run whose file cannot be read is reported, and is there untrained.
    void restore(const std::vector<SavedRun>& runs, const QString& companion);

    /// The runs as the next start restores them; `companion`: the file for what no recording has. `closing`:
    /// also of runs in training.
    SavedComparison savedComparison(const QString& companion, bool closing);
    void saveWindow(const SaveWindowRequest& request);
    /// Waits for the files' thread. False where it cannot be written, which is reported.
    bool saveWindowNow(const SaveWindowRequest& request);

  Q_SIGNALS:
    /// `present`: it is the session on screen, not one that was left since.
    void saved(const QString& path, quint64 token, bool present);
    void savingFailed(quint64 token);
    /// It has replaced the comparison. Not sent where it cannot be opened.
    void opened(const normscope::app::OpenedSessionPtr& session);
    void pathChanged();
    void restored();              ///< of restore(), without its view yet
    void windowSaved(bool kept);  ///< saveWindow(): false, it cannot be written

  private:
    /// What the companion file of the window's state has, of each run.
    struct SavedData {
        std::string id;
        std::shared_ptr<const RunData> data;
        std::size_t rows, samples;
        bool operator==(const SavedData&) const = default;
    };
    void applySaved(quint64 token, const QString& path, const FileIdentity& file);
    void applySavingFailed(quint64 token);
    void applyOpened(quint64 token, const OpenedSessionPtr& session);
    void applyRecovered(quint64 token, const QList<RecoveredRun>& recovered);
    void applyRestored(quint64 token, const RestoredRunsPtr& restored_runs);
    void applyWindowSaved(quint64 token, bool kept);
    FirstReading firstReading() const;
    quint64 askToReplace(Opening opening);
    void openingFailed(const Opening& opening);
    void recover(const QStringList& recordings, bool resume);
    void restoreOpening(Opening opening);
    void leave();
    void replaceRuns(std::vector<LabRun> runs);

    LabState& state_;
    const Parts parts_;
    const std::size_t outline_above_;
    std::map<std::string, std::set<std::string>> saved_runs_;  ///< ids by session file, as saved last
    std::vector<SavedData> cached_for_, caching_for_;          ///< as written; of the last savedComparison()
    Pending<std::vector<SavedData>> saving_window_;
};

}  // namespace normscope::app
