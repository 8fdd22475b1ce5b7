// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/sweep_runner.h"

#include "app/lab/remote/engines.h"
#include "app/lab/remote/overloaded.h"
#include "app/lab/remote/place.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/session/session.h"
#include "core/sweep/sweep_shard.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QThread>
#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

/// A folder as it was read.
struct ReadSweep {
    ShownSweep sweep;
    QStringList problems;
    QString state;
};

/// Changes with every results.csv of the folder and with the shards in it.
QString stateOf(const QString& folder) {
    QString state;
    for (const std::string& each : sweep_folders(folder.toStdString())) {
        const QFileInfo results(QString::fromStdString(each) + QStringLiteral("/results.csv"));
        const qint64 changed = results.exists() ? results.lastModified().toMSecsSinceEpoch() : 0;
        state += QString::fromStdString(each) +
                 QStringLiteral(" %1 %2\n").arg(results.exists() ? results.size() : -1).arg(changed);
    }
    return state;
}

ReadSweep read(const QString& folder) {
    ReadSweep found;
    found.sweep.folder = folder;
    found.state = stateOf(folder);  // before it is read: what changes meanwhile is read again
    std::vector<std::string> problems;
    SweepResults& results = found.sweep.results = read_shards(folder.toStdString(), problems);
    for (const std::string& problem : problems) found.problems << QString::fromStdString(problem);
    QString first;
    for (const SweepRow& row : results.rows) {
        if (row.recording.empty()) continue;
        const QString file = QString::fromStdString(row.recording);
        if (QFileInfo::exists(QDir(folder).filePath(file))) continue;
        if (first.isEmpty()) first = file;
        found.sweep.missing.insert(row.run);
    }
    if (const auto missing = found.sweep.missing.size(); missing == 1)
        found.problems << QObject::tr("%1: %2 is missing; its row is shown").arg(folder, first);
    else if (missing > 1)
        found.problems << QObject::tr("%1: %2 and %3 more recordings are missing; their rows are shown")
                              .arg(folder, first)
                              .arg(missing - 1);
    found.sweep.count = {results.rows.size(), results.spec.trained_runs(), -1};
    return found;
}

}  // namespace

/// Passes what happens in the sweep's threads to the interface thread.
class SweepRunner::Watcher final : public SweepWatcher {
  public:
    Watcher(SweepRunner& runner, QString folder) : runner_(runner), folder_(std::move(folder)) {}
    /// The folder is locked, and results.csv has the rows of earlier calls.
    void begun(const SweepCount& count) override {
        auto begun = std::make_shared<ShownSweep>();
        begun->folder = folder_;
        begun->results = read_sweep(folder_.toStdString());
        begun->count = count;
        post([begun](SweepRunner& runner) {
            runner.sweep_ = std::move(*begun);
            Q_EMIT runner.opened();
        });
    }
    void started(const SweepRun& run) override {
        post([index = run.index](SweepRunner& runner) {
            runner.sweep_->training.insert(index);
            Q_EMIT runner.changed();
        });
    }
    void ended(const SweepRun&, const SweepRow& row, const Outcome&, const SweepCount& count) override {
        post([row, count](SweepRunner& runner) { runner.take(row, count); });
    }
    void note(const std::string& line) override {
        post([text = QString::fromStdString(line)](SweepRunner& runner) { Q_EMIT runner.problem(text); });
    }

  private:
    template <class Work>
    void post(Work&& work) {
        QMetaObject::invokeMethod(
            &runner_, [runner = &runner_, call = std::forward<Work>(work)] { call(*runner); },
            Qt::QueuedConnection);
    }
    SweepRunner& runner_;
    const QString folder_;
};

SweepRunner::SweepRunner(FileCalls files, Engines& engines,
                         std::function<void(const std::function<void()>&)> deliver, QObject* parent)
    : QObject(parent),
      files_(std::move(files)),
      engines_(engines),
      deliver_(std::move(deliver)),
      stop_(std::make_shared<std::atomic<bool>>(false)),
      closing_(std::make_shared<std::atomic<bool>>(false)) {
    connect(&following_, &QTimer::timeout, this, &SweepRunner::follow);
    following_.start(kFollowInterval);
}

SweepRunner::~SweepRunner() {
    *stop_ = *closing_ = true;
    copy_.reset();
    for (const QPointer<QThread>& thread : threads_)
        if (thread) {
            thread->wait();
            delete thread;
        }
}

void SweepRunner::open(const QString& folder) {
    if (running_) {
        Q_EMIT problem(tr("A sweep is being trained: stop it before another one is opened"));
        return;
    }
    QString path = QDir::cleanPath(QFileInfo(folder).absoluteFilePath());
    launch([this, path, token = ++opening_] {
        auto found = std::make_shared<ReadSweep>();
        QString failed;
        try {
            *found = read(path);
        } catch (const std::exception& error) {
            failed = QString::fromUtf8(error.what());
        }
        QMetaObject::invokeMethod(
            this,
            [this, token, found, failed] {
                if (token != opening_ || running_) return;
                if (!failed.isEmpty()) {
                    Q_EMIT problem(failed);
                    return;
                }
                sweep_ = std::move(found->sweep);
                seen_ = found->state;
                Q_EMIT opened();
                if (!found->problems.isEmpty()) Q_EMIT problem(found->problems.join(QStringLiteral("; ")));
            },
            Qt::QueuedConnection);
    });
}

void SweepRunner::follow() {
    const bool complete = sweep_ && sweep_->count.ended >= sweep_->count.total;
    if (!sweep_ || running_ || reading_ || complete) return;
    reading_ = true;
    launch([this, path = sweep_->folder, seen = seen_, token = opening_] {
        std::shared_ptr<ReadSweep> found;
        try {
            if (stateOf(path) != seen) found = std::make_shared<ReadSweep>(read(path));
        } catch (const std::exception&) {
            // The folder is gone, or half made: what is on screen stays, and the next look may find it.
        }
        QMetaObject::invokeMethod(
            this,
            [this, token, found] {
                reading_ = false;
                if (!found || token != opening_ || running_ || !sweep_) return;
                seen_ = found->state;
                addRows(std::move(found->sweep));
            },
            Qt::QueuedConnection);
    });
}

void SweepRunner::addRows(ShownSweep now) {
    std::vector<std::pair<std::size_t, QString>> recordings;
    auto before = sweep_->results.rows.begin();  // both are in the order of the grid
    const auto end = sweep_->results.rows.end();
    for (const SweepRow& row : now.results.rows) {
        while (before != end && before->run < row.run) ++before;
        const bool known = before != end && *before == row;
        if (!known && !row.recording.empty() && !now.missing.count(row.run))
            recordings.emplace_back(row.run, QString::fromStdString(row.recording));
    }
    sweep_->results.rows = std::move(now.results.rows);
    sweep_->missing = std::move(now.missing);
    sweep_->count = now.count;
    if (sweep_->scalar && !recordings.empty()) readScalars(std::move(recordings));
    Q_EMIT changed();
}

void SweepRunner::launch(std::function<void()> work) {
    std::erase_if(threads_, [](const auto& thread) { return thread.isNull(); });
    QThread* thread = QThread::create(std::move(work));
    connect(thread, &QThread::finished, thread, &QObject::deleteLater);
    threads_.emplace_back(thread);
    thread->start();
}

void SweepRunner::start(const SweepSpec& spec, const QString& folder, const std::string& backend,
                        int threads) {
    if (running_) {
        Q_EMIT rejected(tr("A sweep is being trained: stop it before another one starts"));
        return;
    }
    begin(spec, QDir::cleanPath(QFileInfo(folder).absoluteFilePath()), backend, threads);
}

void SweepRunner::resume(const std::string& backend, int threads) {
    if (!sweep_ || running_) return;
    const SweepSpec spec = sweep_->results.spec;
    begin(spec, sweep_->folder, backend, threads);
}

void SweepRunner::begin(const SweepSpec& spec, const QString& folder, const std::string& backend,
                        int threads) {
    ++opening_;
    running_ = true;
    stop_ = std::make_shared<std::atomic<bool>>(false);
    if (is_remote(backend)) return beginThere(spec, folder, backend);
    launch([this, spec, folder, backend, threads, stop = stop_] {
        QString not_valid, failed;
        try {
            SweepOptions options;
            options.folder = folder.toStdString();
            options.threads = threads;
            options.stop = [stop] { return stop->load(); };
            options.files = files_;
            Watcher watcher(*this, folder);
            run_sweep(spec, device_named(backend), options, watcher);
        } catch (const InputError& error) {
            not_valid = QString::fromUtf8(error.what());
        } catch (const std::exception& error) {
            failed = QString::fromUtf8(error.what());
        }
        QMetaObject::invokeMethod(
            this, [this, not_valid, failed] { end(not_valid, failed); }, Qt::QueuedConnection);
    });
    Q_EMIT changed();
}

void SweepRunner::beginThere(const SweepSpec& spec, const QString& folder, const std::string& device) {
    device_there_ = device;
    const std::uint64_t token = ++there_;
    copy_ = std::make_unique<WorkerThread<SweepCopy>>("sweep", token, spec, folder);
    SweepCopy* const copy = copy_->get();
    // Replies that come after the sweep is over here are of an older token, or find no copy.
    const auto current = [this, token] { return token == there_ && !device_there_.empty(); };
    connect(copy, &SweepCopy::opened, this,
            [this, current, device, folder](const std::shared_ptr<const SweepRequest>& request) {
                if (!current()) return;
                begun_there_ = {};
                begun_there_.folder = folder;
                begun_there_.results = {request->spec, expand_sweep(request->spec), request->known};
                try {
                    engines_.sweep(device, *request);
                } catch (const InputError& error) {
                    end(QString::fromUtf8(error.what()), {});
                }
            });
    connect(copy, &SweepCopy::failed, this,
            [this, current, device, token](const QString& not_valid, const QString& failed) {
                if (!current()) return;
                engines_.stopSweep(device, token);
                end(not_valid, failed);
            });
    connect(copy, &SweepCopy::taken, this, [this, current](const SweepReplyPtr& reply) {
        deliver_([this, current, reply] {
            if (current()) applyThere(reply);
        });
    });
    connect(&engines_, &Engines::swept, copy, &SweepCopy::take);
    QMetaObject::invokeMethod(copy, &SweepCopy::open, Qt::QueuedConnection);
    Q_EMIT changed();
}

void SweepRunner::applyThere(const SweepReplyPtr& reply) {
    std::visit(
        Overloaded{
            [&](const SweepReply::Begun& begun) {
                sweep_ = begun_there_;
                sweep_->count = begun.count;
                Q_EMIT opened();
            },
            [&](const SweepReply::Started& started) {
                sweep_->training.insert(static_cast<std::size_t>(started.run));
                Q_EMIT changed();
            },
            [&](const SweepReply::Ended& ended) { take(ended.row, ended.count); },
            [&](const SweepReply::Noted& noted) { Q_EMIT problem(QString::fromStdString(noted.line)); },
            [&](const SweepReply::Over& over) {
                end(QString::fromStdString(over.not_valid), QString::fromStdString(over.failed));
            }},
        reply->what);
}

void SweepRunner::take(const SweepRow& row, const SweepCount& count) {
    auto& rows = sweep_->results.rows;
    const auto at = std::lower_bound(rows.begin(), rows.end(), row.run,
                                     [](const SweepRow& r, std::size_t run) { return r.run < run; });
    if (at != rows.end() && at->run == row.run)
        *at = row;
    else
        rows.insert(at, row);
    sweep_->training.erase(row.run);
    sweep_->missing.erase(row.run);
    sweep_->count = count;
    if (sweep_->scalar && !row.recording.empty())
        readScalars({{row.run, QString::fromStdString(row.recording)}});
    Q_EMIT changed();
}

void SweepRunner::setScalar(std::optional<SweepScalar> scalar) {
    if (!sweep_ || sweep_->scalar == scalar) return;
    sweep_->scalar = std::move(scalar);
    sweep_->scalars.clear();
    if (sweep_->scalar) {
        std::vector<std::pair<std::size_t, QString>> recordings;
        for (const SweepRow& row : sweep_->results.rows)
            if (!row.recording.empty() && !sweep_->missing.count(row.run))
                recordings.emplace_back(row.run, QString::fromStdString(row.recording));
        readScalars(std::move(recordings));
    }
    Q_EMIT changed();
}

void SweepRunner::readScalars(std::vector<std::pair<std::size_t, QString>> recordings) {
    launch([this, recordings = std::move(recordings), folder = sweep_->folder, scalar = *sweep_->scalar,
            files = files_, stop = closing_] {
        for (const auto& [run, file] : recordings) {
            if (*stop) return;
            std::optional<double> value;
            QString failed;
            try {
                const std::string path = QDir(folder).filePath(file).toStdString();
                files([&] {
                    const Session session = open_session(path);
                    if (session.runs.size() == 1) value = scalar_of(session.runs.front(), scalar);
                });
            } catch (const std::exception& error) {
                failed = QString::fromUtf8(error.what());
            }
            QMetaObject::invokeMethod(
                this,
                [this, folder, scalar, at = run, value, failed] {
                    if (!sweep_ || sweep_->folder != folder || sweep_->scalar != scalar) return;
                    if (!failed.isEmpty()) Q_EMIT problem(failed);
                    if (value) sweep_->scalars[at] = *value;
                    Q_EMIT changed();
                },
                Qt::QueuedConnection);
        }
    });
}

void SweepRunner::end(const QString& not_valid, const QString& failed) {
    running_ = false;
    device_there_.clear();
    copy_.reset();
    if (sweep_) sweep_->training.clear();
    Q_EMIT changed();
    Q_EMIT ended();
    if (!not_valid.isEmpty()) Q_EMIT rejected(not_valid);
    if (!failed.isEmpty()) Q_EMIT problem(failed);
}

void SweepRunner::stop() {
    if (!running_) return;
    *stop_ = true;
    if (!device_there_.empty()) {
        engines_.stopSweep(device_there_, there_);
        if (!engines_.waits(device_there_).isEmpty())
            return end({}, tr("The sweep stops on %1 once it is connected")
                               .arg(QString::fromStdString(parse_remote(device_there_).first.host)));
    }
    Q_EMIT changed();
}

void SweepRunner::close() {
    if (running_) return;
    ++opening_;
    sweep_.reset();
    Q_EMIT opened();
}

}  // namespace normscope::app
