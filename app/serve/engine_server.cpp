// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/engine_server.h"

#include "app/lab/remote/overloaded.h"
#include "app/lab/remote/welcome.h"
#include "core/base/error.h"
#include "core/run/checkpoints/checkpoint_memory.h"
#include "core/run/experiment.h"

#include <QLocalSocket>
#include <cstdio>
#include <utility>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kWindowSilence = 6s;  // then its connection is taken for cut
constexpr auto kAlone = 1h;
constexpr auto kLastReplies = 5s;  // to be acknowledged

}  // namespace

RecordingWorker::RecordingWorker(const std::string& folder)
    : recordings_(folder,
                  {[this](std::uint64_t, const std::string& id, const std::string& path) {
                       Q_EMIT recording(QString::fromStdString(id), QString::fromStdString(path), {});
                   },
                   [this](std::uint64_t, const std::string& id, const std::string& line) {
                       Q_EMIT recording(QString::fromStdString(id), {}, QString::fromStdString(line));
                   }},
                  "-remote.h5"),
      heartbeat_(this) {
    heartbeat_.setInterval(1s);
    connect(&heartbeat_, &QTimer::timeout, this, [this] { recordings_.heartbeat(); });
}

void RecordingWorker::record(const std::shared_ptr<RecordingQueue>& queue) {
    recordings_.record(*queue);
    if (recordings_.empty())
        heartbeat_.stop();
    else if (!heartbeat_.isActive())
        heartbeat_.start();
}

void RecordingWorker::follow(const FollowRequest& request) {
    Q_EMIT followed(std::make_shared<const FollowReply>(readGrowth(request)));
}

EngineServer::EngineServer(qintptr listening, const std::string& folder, int threads, QObject* parent)
    : QObject(parent),
      recorder_("files", folder),
      engine_("engine", threads),
      sweeps_("sweeps", folder + "/sweeps", threads,
              FileCalls([recorder = recorder_.get()](const std::function<void()>& work) {
                  callAndWait(recorder, [&work] { work(); });
              })),
      channel_([this](const std::string& message) {
          try {
              take(ask_of(message));
          } catch (const InputError& error) {
              send(reply::NotUnderstood{error.what()});
          }
      }),
      swept_(channel_, kMaxWaiting) {
    relayReplies();
    connect(&server_, &QLocalServer::newConnection, this, &EngineServer::accept);
    if (!server_.listen(listening)) throw SystemError("the socket: " + server_.errorString().toStdString());
    connect(&beat_, &QTimer::timeout, this, &EngineServer::beat);
    beat_.start(1s);
}

EngineServer::~EngineServer() {
    sweeps_->stopAll();
    sweeps_.drain();
    engine_->shutDown();
    engine_->stop();
    engine_.drain();
    recorder_.drain();
}

void EngineServer::relayReplies() {
    EngineWorker* engine = engine_.get();
    connect(engine, &Engine::recordingWaits, recorder_.get(),
            [recorder = recorder_.get()](const std::shared_ptr<RecordingQueue>& queue) {
                recorder->record(queue);
            });
    connect(engine, &Engine::recordingWaits, this, [this] { active_ = Clock::now(); });
    connect(recorder_.get(), &RecordingWorker::recording, this,
            [this](const QString& id, const QString& path, const QString& failed) {
                send(reply::RecordedThere{id.toStdString(), path.toStdString(), failed.toStdString()});
            });
    connect(recorder_.get(), &RecordingWorker::followed, this,
            [this](const FollowReplyPtr& reply) { send(reply::Followed{*reply}); });
    connect(sweeps_.get(), &SweepTrainer::replied, this,
            [this](const SweepReplyPtr& reply, const QString& recording) {
                swept_.add(*reply, recording.toStdString());
            });
    connect(engine, &Engine::frameReady, this, &EngineServer::sendFrame);
    connect(engine, &Engine::devicesFound, this, [this](const DevicesPtr& devices) {
        reply::Devices found{*devices};
        for (KnownDevice& device : found.devices)
            if (device.backend == "cpu") device.name = cpu_name();
        send(found);
    });
    connect(engine, &Engine::rejected, this, [this](quint64 generation, const QString& message) {
        send(reply::Rejected{generation, message.toStdString()});
    });
    connect(engine, &Engine::startRejected, this,
            [this](quint64 token, const QString& id, const QString& message) {
                send(reply::StartRejected{token, id.toStdString(), message.toStdString()});
            });
    connect(engine, &Engine::replayed, this, [this](quint64 token, const QString& id, qint64 steps_done) {
        send(reply::Replayed{token, id.toStdString(), steps_done});
    });
    connect(engine, &Engine::measured, this,
            [this](quint64 token, const QString& id, const ProbeResultsPtr& results, const QString& failed) {
                send(reply::Measured{token, id.toStdString(), results, failed.toStdString()});
            });
    connect(engine, &Engine::branching, this, [this](quint64 token, qint64 steps_done) {
        send(reply::Branching{token, steps_done});
    });
    connect(engine, &Engine::branched, this,
            [this](quint64 token, const CheckpointPtr& checkpoint, const QString& failed) {
                send(reply::Branched{token, checkpoint, failed.toStdString()});
            });
    connect(engine, &Engine::drafted, this,
            [this](quint64 token, qulonglong index, const DraftResultPtr& result) {
                send(reply::Drafted{token, index, *result});
            });
}

// --- the connection

void EngineServer::accept() {
    while (QLocalSocket* window = server_.nextPendingConnection()) {
        disconnectWindow();  // the window has made a new one
        window_ = window;
        received_at_ = Clock::now();
        connect(window, &QLocalSocket::readyRead, this, &EngineServer::read);
        connect(window, &QLocalSocket::disconnected, this, [this, window] {
            if (window_ == window) disconnectWindow();
            window->deleteLater();
        });
        const std::string welcome = welcome_line();
        window->write(welcome.data(), static_cast<qint64>(welcome.size()));
        channel_.connected([window](const std::string& bytes) {
            window->write(bytes.data(), static_cast<qint64>(bytes.size()));
        });
    }
}

void EngineServer::disconnectWindow() {
    channel_.disconnected();
    active_ = Clock::now();
    if (QLocalSocket* window = std::exchange(window_, nullptr)) window->abort();
}

void EngineServer::read() {
    if (sender() != window_ || !window_) return;
    received_at_ = Clock::now();
    const QByteArray bytes = window_->readAll();
    try {
        channel_.receive(bytes.constData(), static_cast<std::size_t>(bytes.size()));
        swept_.send();
    } catch (const InputError& error) {
        std::fprintf(stderr, "normscope-engine: %s\n", error.what());
        disconnectWindow();
    }
}

void EngineServer::beat() {
    channel_.beat();
    const auto now = Clock::now();
    if (sweeps_->busy()) active_ = now;
    if (window_ && now - received_at_ > kWindowSilence) disconnectWindow();
    if (finished_ && (!window_ || channel_.waiting() == 0 || now - active_ > kLastReplies)) Q_EMIT ended();
    if (!window_ && !finishing_ && now - active_ > kAlone) finish();
}

// --- requests and replies

std::vector<RunPlan> EngineServer::withWeights(std::vector<RunPlan> runs,
                                               const std::vector<std::uint64_t>& numbers) const {
    if (numbers.size() != runs.size()) throw InputError("a request names weights of another number of runs");
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (const auto known = weights_.find(numbers[i]); known != weights_.end())
            runs[i].weights = known->second;
    return runs;
}

void EngineServer::take(const ask::Any& message) {
    EngineWorker& engine = *engine_.get();
    std::visit(
        Overloaded{
            [&](const ask::FindDevices&) { engine.findDevices(); },
            [&](const ask::Weights& asked) {
                weights_[asked.number] = std::make_shared<const StartWeights>(asked.weights);
            },
            [&](const ask::Explore& asked) {
                std::erase_if(weights_, [&](const auto& known) {
                    return std::count(asked.weights.begin(), asked.weights.end(), known.first) == 0;
                });
                ExploreRequest request = asked.request;
                request.runs = withWeights(std::move(request.runs), asked.weights);
                engine.explore(std::move(request));
            },
            [&](const ask::Train& asked) {
                std::vector<RunPlan> runs = withWeights(asked.runs, asked.weights);
                for (RunPlan& run : runs) run.recording.clear();  // a file of the other machine
                engine.train(asked.token, std::move(runs));
            },
            [&](const ask::SetKnobs& asked) { engine.setKnobs(asked.id, asked.knobs); },
            [&](const ask::SetWatch& asked) { engine.setWatch(asked.id, asked.watch); },
            [&](const ask::SetInterventions& asked) { engine.setInterventions(asked.id, asked.list); },
            [&](const ask::SetPaused& asked) { engine.setPaused(asked.paused); },
            [&](const ask::SingleStep&) { engine.singleStep(); },
            [&](const ask::Stop& asked) { asked.ids ? engine.stop(*asked.ids) : engine.stop(); },
            [&](const ask::Measure& asked) { engine.measureAt(asked.request); },
            [&](const ask::Branch& asked) { engine.branch(asked.request); },
            [&](const ask::CancelBranches&) { engine.cancelBranches(); },
            [&](const ask::Draft& asked) { engine.draft(asked.request); },
            [&](const ask::Follow& asked) {
                QMetaObject::invokeMethod(
                    recorder_.get(),
                    [recorder = recorder_.get(), request = asked.request] { recorder->follow(request); },
                    Qt::QueuedConnection);
            },
            [&](const ask::Sweep& asked) { sweeps_->start(asked.request); },
            [&](const ask::StopSweep& asked) { sweeps_->stop(asked.token); },
            [&](const ask::FrameShown&) { engine.frameShown(0); },
            [&](const ask::Finish&) { finish(); },
        },
        message);
}

void EngineServer::send(const reply::Any& message) {
    channel_.send(to_bytes(message));
}

void EngineServer::sendFrame(const FramePtr& frame) {
    reply::Framed message{*frame};
    for (RunFrame& run : message.frame.runs)
        if (!run.delta.outcome)
            std::erase_if(run.checkpoints, [](const CheckpointPtr& checkpoint) {
                return bytes_of(*checkpoint) > kMaxSentCheckpoint;
            });
    send(message);
}

/// Stops the runs; then the last replies, and the end.
void EngineServer::finish() {
    if (std::exchange(finishing_, true)) return;
    engine_->stop();
    sweeps_->stopAll();
    QMetaObject::invokeMethod(
        engine_.get(),
        [this] {
            QMetaObject::invokeMethod(
                this,
                [this] {  // after the frames of the stop
                    send(reply::Finished{});
                    finished_ = true;
                    active_ = Clock::now();
                },
                Qt::QueuedConnection);
        },
        Qt::QueuedConnection);
}

}  // namespace normscope::app
