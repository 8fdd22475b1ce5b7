// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/worker_thread.h"
#include "app/lab/studies/sweep_copy.h"
#include "core/sweep/sweep.h"
#include "core/sweep/sweep_scalar.h"
#include "widgets/figures/sweep/shown_sweep.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QThread>
#include <QTimer>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope::app {

class Engines;
using widgets::ShownSweep;

/// Reads and trains sweeps, each in a thread of its own, or on another machine; the interface thread never
/// waits, except in the destructor: it stops a sweep, whose runs are interrupted with a checkpoint. Lives in
/// the interface thread.
class SweepRunner : public QObject {
    Q_OBJECT
  public:
    /// `files` executes the calls to HDF5 (FileCalls); it and the engines must outlive this object. `deliver`
    /// as of LabState: what is on the way from another machine comes through it.
    SweepRunner(FileCalls files, Engines& engines, std::function<void(const std::function<void()>&)> deliver,
                QObject* parent = nullptr);
    ~SweepRunner() override;

    const std::optional<ShownSweep>& sweep() const { return sweep_; }
    bool running() const { return running_; }
    bool stopping() const { return running_ && *stop_; }

    /// Reads a folder, of a sweep or of its shards, and then follows it: rows that other processes add arrive
    /// within about kFollowInterval. A folder without sweep.json is a problem; a damaged results.csv and
    /// missing recordings are, too, and the rest is shown. Rejected, by problem(), while a sweep is trained.
    void open(const QString& folder);
    /// Trains a sweep into its folder, or resumes it. Rejected (rejected()) before the first step for a
    /// specification that is not valid and a folder of another sweep. Where the device is one of another
    /// machine, the runs are trained and recorded there, and their recordings and rows are copied into the
    /// folder as they end; what had ended there before too.
    void start(const SweepSpec& spec, const QString& folder, const std::string& backend, int threads);
    /// Resumes the sweep on screen.
    void resume(const std::string& backend, int threads);
    /// The runs in training are interrupted with a checkpoint; resume() continues them. On a machine that is
    /// not connected they stop once it is, and the sweep is over here at once.
    void stop();
    /// Reads this scalar from the recordings there are, and from each that is added; changed() follows.
    /// Nullopt: none. A recording that cannot be read is a problem() and has no scalar.
    void setScalar(std::optional<SweepScalar> scalar);
    /// Forgets the sweep on screen; not while it is trained.
    void close();

  Q_SIGNALS:
    void opened();   ///< another sweep is on screen, also one that starts
    void changed();  ///< its rows, the runs in training, whether it runs
    /// One line: what cannot be read or trained.
    void problem(const QString& line);
    void rejected(const QString& line);  ///< start() was not valid
    void ended();

  public:
    static constexpr int kFollowInterval = 1000;  ///< ms

  private:
    class Watcher;
    /// On the machine of this device.
    void beginThere(const SweepSpec& spec, const QString& folder, const std::string& device);
    void applyThere(const SweepReplyPtr& reply);
    /// Reads again what other processes have changed in the folder on screen.
    void follow();
    /// Rows of a later reading of the same folder.
    void addRows(ShownSweep now);
    void begin(const SweepSpec& spec, const QString& folder, const std::string& backend, int threads);
    void take(const SweepRow& row, const SweepCount& count);
    void launch(std::function<void()> work);
    void readScalars(std::vector<std::pair<std::size_t, QString>> recordings);
    void end(const QString& not_valid, const QString& failed);

    FileCalls files_;
    Engines& engines_;
    const std::function<void(const std::function<void()>&)> deliver_;
    std::optional<ShownSweep> sweep_;
    bool running_ = false;
    quint64 opening_ = 0;
    std::shared_ptr<std::atomic<bool>> stop_, closing_;
    QTimer following_;
    bool reading_ = false;                           ///< a reading of follow() is on its way
    QString seen_;                                   ///< the state of the folder's results that was read last
    std::vector<QPointer<QThread>> threads_;         ///< deleted when they end
    std::uint64_t there_ = 0;                        ///< the token of the newest request to another machine
    std::string device_there_;                       ///< of the sweep that is trained there; empty: none
    ShownSweep begun_there_;                         ///< as it is when it begins there
    std::unique_ptr<WorkerThread<SweepCopy>> copy_;  ///< its folder here
};

}  // namespace normscope::app
