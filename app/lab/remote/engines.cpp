// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/engines.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

Engines::Engines(int threads) : here_("engine", threads) {
    relay(here_.get());
    connect(here_.get(), &Engine::devicesFound, this, [this](const DevicesPtr& devices) {
        devices_ = *devices;
        sendDevices();
    });
}

Engines::~Engines() = default;

/// The replies keep the thread they come in: what is recorded does not wait for the interface.
void Engines::relay(Engine* engine) {
    connect(engine, &Engine::frameReady, this, &Engine::frameReady, Qt::DirectConnection);
    connect(engine, &Engine::rejected, this, &Engine::rejected, Qt::DirectConnection);
    connect(engine, &Engine::startRejected, this, &Engine::startRejected, Qt::DirectConnection);
    connect(engine, &Engine::replayed, this, &Engine::replayed, Qt::DirectConnection);
    connect(engine, &Engine::measured, this, &Engine::measured, Qt::DirectConnection);
    connect(engine, &Engine::branching, this, &Engine::branching, Qt::DirectConnection);
    connect(engine, &Engine::branched, this, &Engine::branched, Qt::DirectConnection);
    connect(engine, &Engine::drafted, this, &Engine::drafted, Qt::DirectConnection);
    connect(engine, &Engine::recordingWaits, this, &Engine::recordingWaits, Qt::DirectConnection);
}

// --- other machines

void Engines::use(const std::string& device) {
    const std::uint64_t before = exploring();
    if (is_remote(device)) connectTo(parse_remote(device).first);
    used_ = numberOf(device);
    if (exploring() != before && explored_) explore(*explored_);
    sendDevices();
}

void Engines::connectTo(const RemotePlace& place) {
    for (const auto& [number, remote] : remotes_)
        if (remote.place == place && remote.state != State::Ended) return;
    const std::uint64_t number = remotes_.empty() ? 1 : remotes_.rbegin()->first + 1;
    Remote& remote = remotes_[number];
    remote.place = place;
    remote.thread = std::make_unique<WorkerThread<RemoteEngine>>("remote", number, place);
    RemoteEngine* engine = remote.thread->get();
    relay(engine);
    connect(engine, &Engine::devicesFound, this, [this, number](const DevicesPtr& devices) {
        remotes_.at(number).devices = *devices;
        sendDevices();
    });
    connect(engine, &RemoteEngine::stateChanged, this,
            [this, number](State state, const QString& line) { changed(number, state, line); });
    connect(engine, &RemoteEngine::followed, this, &Engines::followed);
    connect(engine, &RemoteEngine::swept, this, &Engines::swept, Qt::DirectConnection);
    connect(engine, &RemoteEngine::noted, this, &Engines::connectionChanged);
    QMetaObject::invokeMethod(engine, &RemoteEngine::connectThere, Qt::QueuedConnection);
    engine->findDevices();
}

void Engines::changed(std::uint64_t number, State state, const QString& line) {
    const std::uint64_t before = exploring();
    Remote& remote = remotes_.at(number);
    const bool in_use = number == used_ && state == State::Ended;  // its devices are missing for this reason
    remote.state = state;
    if (state == State::Ended) remote.ended = line;
    // What was asked of the other engine may not be answered for long: the person continues here.
    if (exploring() != before && explored_) explore(*explored_);
    sendDevices();
    if (!line.isEmpty() && !in_use) Q_EMIT connectionChanged(line);
}

void Engines::sendDevices() {
    std::vector<KnownDevice> list = devices_;
    if (list.empty()) return;  // not found yet
    for (const auto& [number, remote] : remotes_) {
        const std::string place = remote.place.text();
        const auto same = [&place_of = remote.place](const auto& later) {
            return later.second.place == place_of;
        };
        const bool replaced = std::any_of(remotes_.upper_bound(number), remotes_.end(), same);
        if (replaced) continue;
        const bool ended = remote.state == State::Ended;
        const std::string why =
            ended ? (remote.ended.isEmpty() ? "not connected" : remote.ended.toStdString()) : "";
        if (remote.devices.empty() || ended) list.push_back({place, "", {}, why});
        for (KnownDevice device : ended ? std::vector<KnownDevice>() : remote.devices) {
            device.backend = place + " " + device.backend;
            list.push_back(std::move(device));
        }
    }
    Q_EMIT devicesFound(std::make_shared<const std::vector<KnownDevice>>(std::move(list)));
}

// --- which engine

Engine* Engines::engine(std::uint64_t number) {
    const auto found = remotes_.find(number);
    return found == remotes_.end() ? static_cast<Engine*>(here_.get()) : found->second.thread->get();
}

std::uint64_t Engines::numberOf(const std::string& device) const {
    if (!is_remote(device)) return 0;
    const RemotePlace place = parse_remote(device).first;
    std::uint64_t newest = 0;
    for (const auto& [number, remote] : remotes_)
        if (remote.place == place) newest = number;
    return newest;
}

QString Engines::waits(const std::string& device) const {
    const auto remote = remotes_.find(numberOf(device));
    if (remote == remotes_.end()) return {};
    return remote->second.state == State::Connecting ? tr("connecting")
           : remote->second.state == State::Lost     ? tr("reconnecting")
                                                     : QString();
}

std::uint64_t Engines::runOn(const std::string& id) const {
    const auto run = runs_.find(id);
    return run == runs_.end() ? 0 : run->second;
}

std::uint64_t Engines::ifConnected(std::uint64_t number) const {
    const auto remote = remotes_.find(number);
    return remote != remotes_.end() && remote->second.state == State::Connected ? number : 0;
}

std::uint64_t Engines::exploring() const {
    return ifConnected(used_);
}

template <class Call>
void Engines::all(Call&& call) {
    call(static_cast<Engine&>(*here_.get()));
    for (auto& [number, remote] : remotes_) call(static_cast<Engine&>(*remote.thread->get()));
}

// --- requests

void Engines::findDevices() {
    all([](Engine& engine) { engine.findDevices(); });
}

void Engines::explore(ExploreRequest request) {
    explored_ = request;
    engine(exploring())->explore(std::move(request));
}

void Engines::train(std::uint64_t token, std::vector<RunPlan> runs) {
    std::map<std::uint64_t, std::vector<RunPlan>> parts;
    for (RunPlan& plan : runs) {
        const std::uint64_t number = numberOf(plan.backend);
        runs_[plan.id] = number;
        if (number > 0) {
            plan.backend = parse_remote(plan.backend).second;
            if (plan.backend.empty()) plan.backend = "auto";
        }
        parts[number].push_back(std::move(plan));
    }
    for (auto& [number, plans] : parts) engine(number)->train(token, std::move(plans));
}

void Engines::setKnobs(const std::string& id, const HotKnobs& knobs) {
    engine(runOn(id))->setKnobs(id, knobs);
}

void Engines::setWatch(const std::string& id, const std::vector<WatchSpec>& watch) {
    engine(runOn(id))->setWatch(id, watch);
}

void Engines::setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) {
    engine(runOn(id))->setInterventions(id, list);
}

void Engines::setPaused(bool paused) {
    all([&](Engine& engine) { engine.setPaused(paused); });
}

void Engines::singleStep() {
    all([](Engine& engine) { engine.singleStep(); });
}

void Engines::stop(const std::vector<std::string>& ids) {
    all([&](Engine& engine) { engine.stop(ids); });
}

void Engines::stop() {
    all([](Engine& engine) { engine.stop(); });
}

/// To every engine, an empty one too: it replaces what is measured there.
void Engines::measureAt(MeasureRequest request) {
    std::map<std::uint64_t, MeasureRequest> parts;
    parts[0];
    for (const auto& [number, remote] : remotes_) parts[number];
    for (auto& [number, part] : parts) part.token = request.token;
    for (MeasurePlan& plan : request.runs)
        parts[ifConnected(runOn(plan.replay.header.id))].runs.push_back(std::move(plan));
    for (auto& [number, part] : parts) engine(number)->measureAt(std::move(part));
}

void Engines::branch(BranchRequest request) {
    const std::uint64_t number = ifConnected(runOn(request.replay.header.id));
    engine(number)->branch(std::move(request));
}

void Engines::cancelBranches() {
    all([](Engine& engine) { engine.cancelBranches(); });
}

void Engines::draft(DraftRequest request) {
    const std::uint64_t number = exploring();
    DraftRequest none;
    none.token = request.token;
    for (const auto& [other, remote] : remotes_)
        if (other != number) engine(other)->draft(none);
    if (number != 0) here_->draft(none);
    engine(number)->draft(std::move(request));
}

void Engines::frameShown(std::uint64_t number) {
    engine(number)->frameShown(number);
}

void Engines::follow(const std::string& place, FollowRequest request) {
    connectTo(parse_remote(place).first);
    remotes_.at(numberOf(place)).thread->get()->follow(std::move(request));
}

void Engines::sweep(const std::string& device, SweepRequest request) {
    const auto [place, word] = parse_remote(device);
    connectTo(place);
    request.backend = word.empty() ? "auto" : word;
    remotes_.at(numberOf(device)).thread->get()->sweep(std::move(request));
}

void Engines::stopSweep(const std::string& device, std::uint64_t token) {
    const auto remote = remotes_.find(numberOf(device));
    if (remote != remotes_.end()) remote->second.thread->get()->stopSweep(token);
}

void Engines::shutDown() {
    all([](Engine& engine) { engine.shutDown(); });
}

void Engines::drain() {
    here_.drain();
    for (auto& [number, remote] : remotes_) {
        RemoteEngine* engine = remote.thread->get();
        callAndWait(engine, [engine] { engine->awaitEnd(); });
    }
}

}  // namespace normscope::app
