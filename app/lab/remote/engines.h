// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/engine_worker.h"
#include "app/lab/engine/worker_thread.h"
#include "app/lab/remote/remote_engine.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// The engine of this process and those on other machines, as one: each request goes to the engine that it is
/// for, each in its own thread, and their replies come from here.
///
/// Runs train where their plan's device is: "cuda" is here, "ssh://host cuda" there. They are changed,
/// stopped, replayed and branched off where they were trained, as long as that machine is connected, else
/// here. Runs are explored, and remedies drafted, on the machine that was chosen by use(), while it is
/// connected, else here.
///
/// Requests come from one thread.
class Engines final : public Engine {
    Q_OBJECT
  public:
    /// `threads` of the engine of this process.
    explicit Engines(int threads);
    ~Engines() override;

    /// Of the engine of this process.
    int threads() const { return here_->threads(); }

    /// Explores on this device's machine from now on, and connects to it where it is another one. Throws
    /// InputError for a word that is not understood.
    void use(const std::string& device);
    /// Of a device on another machine, to which there is no connection now: "connecting", "reconnecting";
    /// else empty.
    QString waits(const std::string& device) const;

    /// Devices of all machines in one list, this one's first: of another one "ssh://host cuda", or
    /// "ssh://host" while it is being connected.
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
    /// Reads what was added to recordings on another machine, which is connected for that. Throws InputError
    /// for a place that is not understood.
    void follow(const std::string& place, FollowRequest request);
    /// Trains a sweep on another machine, which is connected for that; answered by swept(). InputError as
    /// above; the request's backend is taken from the device.
    void sweep(const std::string& device, SweepRequest request);
    void stopSweep(const std::string& device, std::uint64_t token);
    void shutDown() override;
    /// Waits until everything that was asked is done; on other machines as RemoteEngine::awaitEnd().
    void drain();

  Q_SIGNALS:
    /// The connection to another machine was made, cut, or is given up, or what is not done there: one line.
    void connectionChanged(const QString& line);
    /// Of follow(); paths as "ssh://host /path".
    void followed(const normscope::app::FollowReplyPtr& reply);
    /// Of sweep(). In the thread of that machine's engine.
    void swept(const normscope::app::SweepReplyPtr& reply);

  private:
    using State = RemoteEngine::State;
    struct Remote {
        RemotePlace place;
        std::unique_ptr<WorkerThread<RemoteEngine>> thread;
        State state = State::Connecting;
        QString ended;
        std::vector<KnownDevice> devices;
    };
    void relay(Engine* engine);
    void connectTo(const RemotePlace& place);
    void changed(std::uint64_t number, State state, const QString& line);
    void sendDevices();
    Engine* engine(std::uint64_t number);
    /// Of the engine that a device's word names; 0: this process.
    std::uint64_t numberOf(const std::string& device) const;
    /// The engine that trained this run last.
    std::uint64_t runOn(const std::string& id) const;
    /// This engine, where it is connected; else this process.
    std::uint64_t ifConnected(std::uint64_t number) const;
    std::uint64_t exploring() const;
    template <class Call>
    void all(Call&& call);

    WorkerThread<EngineWorker> here_;
    std::map<std::uint64_t, Remote> remotes_;
    std::vector<KnownDevice> devices_;           ///< of this machine
    std::uint64_t used_ = 0;                     ///< the engine that explores, where it is connected
    std::map<std::string, std::uint64_t> runs_;  ///< by id: the engine that trained it last
    std::optional<ExploreRequest> explored_;     ///< the newest request
};

}  // namespace normscope::app
