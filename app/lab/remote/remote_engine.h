// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/engine.h"
#include "app/lab/remote/channel.h"
#include "app/lab/remote/messages.h"
#include "app/lab/remote/open_requests.h"
#include "app/lab/remote/place.h"

#include <QProcess>
#include <QTimer>
#include <chrono>
#include <functional>
#include <memory>

namespace normscope::app {

/// The engine on another machine, which is started and reached through the user's ssh (RemotePlace). Its runs
/// are recorded there, and here from its frames, which have every row. Lives in its own thread (the thread it
/// was moved to), as any engine.
///
/// A connection that is cut, or silent for six seconds, is made again; the runs continue meanwhile, requests
/// wait, and no reply is lost (Channel). Where the engine there has ended, every open request gets its last
/// reply, with the reason, and its runs become interrupted.
class RemoteEngine final : public Engine {
    Q_OBJECT
  public:
    enum class State {
        Connecting,  ///< for the first time
        Connected,
        Lost,  ///< being connected again
        Ended  ///< or not reached: every request fails
    };
    Q_ENUM(State)

    /// `number`: of its frames (Frame::engine).
    RemoteEngine(std::uint64_t number, RemotePlace place, QObject* parent = nullptr);
    ~RemoteEngine() override;

    const RemotePlace& place() const { return place_; }

    void findDevices() override;
    void explore(ExploreRequest request) override;
    void train(std::uint64_t token, std::vector<RunPlan> runs) override;
    void setKnobs(const std::string& id, const HotKnobs& knobs) override;
    void setWatch(const std::string& id, const std::vector<WatchSpec>& watch) override;
    void setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) override;
    void setPaused(bool paused) override;
    void singleStep() override;
    void stop(const std::vector<std::string>& ids) override;
    void stop() override;
    void measureAt(MeasureRequest request) override;
    void branch(BranchRequest request) override;
    void cancelBranches() override;
    void draft(DraftRequest request) override;
    void frameShown(std::uint64_t engine) override;
    /// Reads what was added to recordings there, by their paths there; answered by followed().
    void follow(FollowRequest request);
    /// Trains a sweep there, in a folder of its name; answered by swept(). One that is being trained there is
    /// stopped: its runs are interrupted with checkpoints.
    void sweep(SweepRequest request);
    void stopSweep(std::uint64_t token);
    /// All runs are stopped, and the engine there ends.
    void shutDown() override;

    /// Connects. In its thread, once.
    void connectThere();
    /// After shutDown(): waits for the last replies, as long as there is a connection and not longer than 10
    /// s. In its thread.
    void awaitEnd();

  Q_SIGNALS:
    /// The paths are those of this machine: "ssh://host /path".
    void followed(const normscope::app::FollowReplyPtr& reply);
    void swept(const normscope::app::SweepReplyPtr& reply);
    /// A line on what is done there: that a run is not recorded.
    void noted(const QString& line);
    /// With a line for the person; empty where there is nothing to be stated.
    void stateChanged(normscope::app::RemoteEngine::State state, const QString& line);

  private:
    using Clock = std::chrono::steady_clock;
    /// Sends it from this engine's thread, or answers it where the engine has ended.
    template <class Message>
    void post(Message message);
    void send(const ask::Any& message);
    std::uint64_t numberOf(const StartWeightsPtr& weights);
    std::vector<std::uint64_t> numbersOf(const std::vector<RunPlan>& runs);
    void startProcess();
    void readProcess();
    bool readWelcome();
    void processEnded();
    void discardProcess();
    void lose();
    void end(const QString& line);
    void beat();
    void apply(reply::Any message);
    void apply(Frame frame);
    void record(const RunFrame& run);
    void wake(bool first);
    void setState(State state, const QString& line);
    QString failure() const;

    const std::uint64_t number_;
    const RemotePlace place_;
    const std::string session_;  ///< the name of the engine there, for later connections
    State state_ = State::Connecting;
    QString ended_;  ///< why
    Channel channel_;
    OpenRequests open_;
    QProcess* process_ = nullptr;  ///< of ssh; null between two connections
    bool welcomed_ = false;        ///< by the engine, over the present connection
    QByteArray before_;            ///< what came before that: a shell may print
    QByteArray errors_;            ///< of ssh and the program there, the last of them
    Clock::time_point received_at_{};
    QTimer beat_, again_;
    int attempts_ = 0;                                  ///< since the connection was lost
    std::map<StartWeightsPtr, std::uint64_t> weights_;  ///< that the engine there has, by number
    std::uint64_t last_weights_ = 0;
    std::shared_ptr<RecordingQueue> recordings_ = std::make_shared<RecordingQueue>();
    std::uint64_t frames_ = 0;
    bool finished_ = false;
};

}  // namespace normscope::app
