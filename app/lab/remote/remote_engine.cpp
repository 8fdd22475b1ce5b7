// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/remote_engine.h"

#include "app/lab/remote/overloaded.h"
#include "app/lab/remote/welcome.h"
#include "core/base/error.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <QEventLoop>
#include <QUuid>
#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 6s;         // then a connection is taken for cut
constexpr auto kFirstPatience = 60s;  // for the first answer, which may wait for a key to be unlocked
constexpr auto kLongestPause = 10s;   // between two attempts
constexpr auto kEndPatience = 10s;
constexpr qsizetype kMaxBefore = 64 << 10, kMaxErrors = 8 << 10;
constexpr int kNoSuchProgram = 127;

QString text(const std::string& utf8) {
    return QString::fromStdString(utf8);
}

/// The last line that has anything in it.
QString lastLine(const QByteArray& output) {
    QString last;
    for (const QString& line : QString::fromUtf8(output).split(u'\n'))
        if (!line.trimmed().isEmpty()) last = line.trimmed();
    return last;
}

/// In the child: a recording that is open when ssh starts would stay locked as long as ssh runs.
void closeWhatIsOpen() {
    constexpr unsigned first = 3, most = 1024;
    if (close_range(first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    for (unsigned descriptor = first; descriptor < most; ++descriptor)
        fcntl(static_cast<int>(descriptor), F_SETFD, FD_CLOEXEC);
}

}  // namespace

RemoteEngine::RemoteEngine(std::uint64_t number, RemotePlace place, QObject* parent)
    : Engine(parent),
      number_(number),
      place_(std::move(place)),
      session_(QUuid::createUuid().toString(QUuid::Id128).toStdString()),
      channel_([this](const std::string& message) { apply(reply_of(message)); }),
      beat_(this),
      again_(this) {
    qRegisterMetaType<State>();
    qRegisterMetaType<FollowReplyPtr>();
    qRegisterMetaType<SweepReplyPtr>();
    beat_.setInterval(1s);
    again_.setSingleShot(true);
    connect(&beat_, &QTimer::timeout, this, &RemoteEngine::beat);
    connect(&again_, &QTimer::timeout, this, &RemoteEngine::startProcess);
}

RemoteEngine::~RemoteEngine() {
    discardProcess();
    for (QProcess* process : findChildren<QProcess*>()) process->waitForFinished();
}

// --- requests

template <class Message>
void RemoteEngine::post(Message message) {
    QMetaObject::invokeMethod(
        this, [this, message = std::move(message)] { send(message); }, Qt::QueuedConnection);
}

void RemoteEngine::send(const ask::Any& message) {
    open_.asked(message);
    if (state_ == State::Ended) {
        for (reply::Any& reply : open_.end(ended_.toStdString())) apply(std::move(reply));
        return;
    }
    channel_.send(to_bytes(message));
}

void RemoteEngine::findDevices() {
    post(ask::FindDevices{});
}

/// The number of these weights, which are sent where the engine there does not have them.
std::uint64_t RemoteEngine::numberOf(const StartWeightsPtr& weights) {
    if (!weights) return 0;
    const auto [known, added] = weights_.try_emplace(weights, last_weights_ + 1);
    if (added) {
        ++last_weights_;
        send(ask::Weights{known->second, *weights});
    }
    return known->second;
}

std::vector<std::uint64_t> RemoteEngine::numbersOf(const std::vector<RunPlan>& runs) {
    std::vector<std::uint64_t> numbers;
    for (const RunPlan& run : runs) numbers.push_back(numberOf(run.weights));
    return numbers;
}

void RemoteEngine::explore(ExploreRequest request) {
    QMetaObject::invokeMethod(
        this,
        [this, request = std::move(request)] {
            const std::vector<std::uint64_t> numbers = numbersOf(request.runs);
            std::erase_if(weights_, [&](const auto& known) {
                return std::count(numbers.begin(), numbers.end(), known.second) == 0;
            });
            send(ask::Explore{request, numbers});
        },
        Qt::QueuedConnection);
}

void RemoteEngine::train(std::uint64_t token, std::vector<RunPlan> runs) {
    QMetaObject::invokeMethod(
        this,
        [this, token, runs = std::move(runs)]() mutable {
            std::vector<std::uint64_t> numbers = numbersOf(runs);
            send(ask::Train{token, std::move(runs), std::move(numbers)});
        },
        Qt::QueuedConnection);
}

void RemoteEngine::setKnobs(const std::string& id, const HotKnobs& knobs) {
    post(ask::SetKnobs{id, knobs});
}

void RemoteEngine::setWatch(const std::string& id, const std::vector<WatchSpec>& watch) {
    post(ask::SetWatch{id, watch});
}

void RemoteEngine::setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) {
    post(ask::SetInterventions{id, list});
}

void RemoteEngine::setPaused(bool paused) {
    post(ask::SetPaused{paused});
}

void RemoteEngine::singleStep() {
    post(ask::SingleStep{});
}

void RemoteEngine::stop(const std::vector<std::string>& ids) {
    post(ask::Stop{ids});
}

void RemoteEngine::stop() {
    post(ask::Stop{});
}

void RemoteEngine::measureAt(MeasureRequest request) {
    post(ask::Measure{std::move(request)});
}

void RemoteEngine::branch(BranchRequest request) {
    post(ask::Branch{std::move(request)});
}

void RemoteEngine::cancelBranches() {
    post(ask::CancelBranches{});
}

void RemoteEngine::draft(DraftRequest request) {
    post(ask::Draft{std::move(request)});
}

void RemoteEngine::follow(FollowRequest request) {
    post(ask::Follow{std::move(request)});
}

void RemoteEngine::sweep(SweepRequest request) {
    post(ask::Sweep{std::move(request)});
}

void RemoteEngine::stopSweep(std::uint64_t token) {
    post(ask::StopSweep{token});
}

void RemoteEngine::frameShown(std::uint64_t /*engine*/) {
    post(ask::FrameShown{});
}

void RemoteEngine::shutDown() {
    post(ask::Finish{});
}

void RemoteEngine::awaitEnd() {
    if (state_ == State::Connected) {
        QEventLoop loop;
        connect(this, &RemoteEngine::stateChanged, &loop, &QEventLoop::quit);
        QTimer::singleShot(kEndPatience, &loop, &QEventLoop::quit);
        loop.exec();
    }
    end(tr("the window was closed"));
}

// --- the connection

void RemoteEngine::connectThere() {
    startProcess();
    beat_.start();
}

void RemoteEngine::startProcess() {
    process_ = new QProcess(this);
    welcomed_ = false;
    before_.clear();
    errors_.clear();
    received_at_ = Clock::now();
    QStringList arguments;
    for (const std::string& argument : place_.command(session_, state_ == State::Lost))
        arguments << text(argument);
    process_->setChildProcessModifier(closeWhatIsOpen);
    process_->setProgram(arguments.takeFirst());
    process_->setArguments(arguments);
    connect(process_, &QProcess::readyReadStandardOutput, this, &RemoteEngine::readProcess);
    connect(process_, &QProcess::readyReadStandardError, this,
            [this] { errors_ = (errors_ + process_->readAllStandardError()).right(kMaxErrors); });
    connect(process_, &QProcess::finished, this, &RemoteEngine::processEnded);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) processEnded();
    });
    process_->start();
}

void RemoteEngine::readProcess() {
    received_at_ = Clock::now();
    const QByteArray bytes = process_->readAllStandardOutput();
    try {
        if (welcomed_) return channel_.receive(bytes.constData(), static_cast<std::size_t>(bytes.size()));
        before_ += bytes;
        if (!readWelcome()) return;
        const QByteArray rest = std::exchange(before_, {});
        QProcess* process = process_;
        channel_.connected([process](const std::string& out) {
            process->write(out.data(), static_cast<qint64>(out.size()));
        });
        if (state_ != State::Connected)
            setState(State::Connected,
                     state_ == State::Lost ? tr("%1 is connected again").arg(text(place_.host)) : QString());
        attempts_ = 0;
        channel_.receive(rest.constData(), static_cast<std::size_t>(rest.size()));
    } catch (const InputError& error) {
        end(QString::fromUtf8(error.what()));
    }
}

/// Whether the engine's first line has come; what is after it is left in before_. A shell there may have
/// printed other lines.
bool RemoteEngine::readWelcome() {
    while (true) {
        const qsizetype line_end = before_.indexOf('\n');
        if (line_end < 0) {
            if (before_.size() > kMaxBefore)
                throw InputError("what arrives is not of an engine of Normscope");
            return false;
        }
        const std::string line = before_.left(line_end).toStdString();
        before_.remove(0, line_end + 1);
        const std::optional<Welcome> welcome = welcome_of(line);
        if (!welcome) continue;
        if (!welcome->failed.empty()) throw InputError(welcome->failed);
        return welcomed_ = true;
    }
}

/// Why the connection could not be made, in one line.
QString RemoteEngine::failure() const {
    if (process_->error() == QProcess::FailedToStart)
        return tr("%1 cannot be started: %2").arg(process_->program(), process_->errorString());
    const QString line = lastLine(errors_);
    if (process_->exitStatus() == QProcess::NormalExit && process_->exitCode() == kNoSuchProgram)
        return tr("no %1 there; its path may be named: ssh://host/path/to/normscope-cli")
            .arg(text(place_.program));
    if (line.isEmpty()) return tr("it gives no answer");
    return line.endsWith(u'.') ? line.chopped(1) : line;
}

void RemoteEngine::processEnded() {
    if (state_ == State::Ended) return;
    errors_ += process_->readAllStandardError();
    if (process_->bytesAvailable() > 0) readProcess();
    if (state_ == State::Ended) return;
    if (state_ == State::Connecting) return end(failure());
    lose();
}

void RemoteEngine::discardProcess() {
    QProcess* process = std::exchange(process_, nullptr);
    if (!process) return;
    process->disconnect(this);
    if (process->state() == QProcess::NotRunning) return process->deleteLater();
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    process->kill();
}

/// The connection is cut: another attempt, after a pause that grows.
void RemoteEngine::lose() {
    channel_.disconnected();
    discardProcess();
    const auto pause =
        std::min<std::chrono::seconds>(kLongestPause, std::chrono::seconds(1 << std::min(attempts_, 4)));
    again_.start(attempts_ == 0 ? 200ms : std::chrono::milliseconds(pause));
    ++attempts_;
    if (state_ != State::Lost)
        setState(State::Lost,
                 tr("The connection to %1 is cut: its runs continue there, and it is being made again")
                     .arg(text(place_.host)));
}

void RemoteEngine::end(const QString& line) {
    if (state_ == State::Ended) return;
    ended_ = text(place_.host) + QStringLiteral(": ") + line;
    channel_.disconnected();
    beat_.stop();
    again_.stop();
    discardProcess();
    setState(State::Ended, finished_ ? QString() : ended_);
    for (reply::Any& reply : open_.end(ended_.toStdString())) apply(std::move(reply));
}

void RemoteEngine::beat() {
    channel_.beat();
    const auto silent = Clock::now() - received_at_;
    if (!process_) return;
    if (state_ == State::Connecting && silent > kFirstPatience) return end(tr("it gives no answer"));
    if (state_ == State::Connected && silent > kSilence) return lose();
    if (state_ == State::Lost && silent > kFirstPatience) lose();
}

void RemoteEngine::setState(State state, const QString& line) {
    state_ = state;
    Q_EMIT stateChanged(state, line);
}

// --- replies

void RemoteEngine::apply(reply::Any message) {
    if (const auto* framed = std::get_if<reply::Framed>(&message)) {
        apply(framed->frame);
        return;
    }
    open_.answered(message);
    std::visit(
        Overloaded{[&](reply::Devices& answer) {
                       Q_EMIT devicesFound(std::make_shared<const std::vector<KnownDevice>>(answer.devices));
                   },
                   [&](reply::Rejected& answer) { Q_EMIT rejected(answer.generation, text(answer.message)); },
                   [&](reply::StartRejected& answer) {
                       Q_EMIT startRejected(answer.token, text(answer.id), text(answer.message));
                   },
                   [&](reply::Replayed& answer) {
                       Q_EMIT replayed(answer.token, text(answer.id), answer.steps_done);
                   },
                   [&](reply::Measured& answer) {
                       Q_EMIT measured(answer.token, text(answer.id), answer.results, text(answer.failed));
                   },
                   [&](reply::Branching& answer) { Q_EMIT branching(answer.token, answer.steps_done); },
                   [&](reply::Branched& answer) {
                       Q_EMIT branched(answer.token, answer.checkpoint, text(answer.failed));
                   },
                   [&](reply::Drafted& answer) {
                       Q_EMIT drafted(answer.token, answer.index,
                                      std::make_shared<const DraftResult>(std::move(answer.result)));
                   },
                   [&](reply::Followed& answer) {
                       for (FollowReply::Run& run : answer.reply.runs)
                           run.path = place_.text() + " " + run.path;
                       Q_EMIT followed(std::make_shared<const FollowReply>(std::move(answer.reply)));
                   },
                   [&](reply::Swept& answer) {
                       Q_EMIT swept(std::make_shared<const SweepReply>(std::move(answer.reply)));
                   },
                   [&](reply::RecordedThere& answer) {
                       if (!answer.failed.empty()) Q_EMIT noted(text(place_.host + ": " + answer.failed));
                   },
                   [&](reply::NotUnderstood& answer) {
                       const std::string line = place_.host + ": " + answer.why;
                       for (reply::Any& failed : open_.fail(line)) apply(std::move(failed));
                   },
                   [&](reply::Finished&) {
                       finished_ = true;
                       end(tr("the engine has ended"));
                   },
                   [](auto&) {}},
        message);
}

void RemoteEngine::apply(Frame frame) {
    frame.engine = number_;
    if (!frame.device.backend.empty()) frame.device.backend = place_.host + " " + frame.device.backend;
    frame.number = ++frames_;
    // On this machine's clock, as if it had been measured now: the ways there and back count as the queue.
    const auto shift = Clock::now() - frame.times.measured;
    for (auto* time : {&frame.times.taken, &frame.times.prepared, &frame.times.measured}) *time += shift;
    if (frame.kind == Frame::Kind::Train)
        for (const RunFrame& run : frame.runs) record(run);
    const reply::Any answer = reply::Framed{std::move(frame)};
    open_.answered(answer);
    Q_EMIT frameReady(std::make_shared<const Frame>(std::get<reply::Framed>(answer).frame));
}

/// As the engine there records it.
void RemoteEngine::record(const RunFrame& run) {
    if (run.header) wake(recordings_->begin(run.header, open_.recording(run.training, run.id), run.training));
    if (!run.delta.empty()) wake(recordings_->add(run.id, run.delta));
    for (const CheckpointPtr& checkpoint : run.checkpoints) wake(recordings_->save(run.id, checkpoint));
    const auto& outcome = run.delta.outcome;
    if (outcome && outcome->state != RunState::Running && outcome->state != RunState::Paused)
        wake(recordings_->end(run.id));
}

void RemoteEngine::wake(bool first) {
    if (first) Q_EMIT recordingWaits(recordings_);
}

}  // namespace normscope::app
