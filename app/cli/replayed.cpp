// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/replayed.h"

#include "core/base/error.h"
#include "core/run/checkpoints/replay.h"
#include "core/session/session.h"

#include <algorithm>
#include <ostream>

namespace normscope::app {

RunData& chosen_run(Session& session, const std::string& path, const std::string& id,
                    const std::string& option) {
    std::string ids;
    for (const RunData& run : session.runs) ids += (ids.empty() ? "" : ", ") + run.id;
    if (id.empty() && session.runs.size() > 1)
        throw InputError(path, "holds several runs", option + " with one of " + ids);
    for (RunData& run : session.runs)
        if (id.empty() || run.id == id) return run;
    throw InputError(path, "holds no run \"" + id + "\"", option + " with one of " + ids);
}

std::shared_ptr<const Checkpoint> nearest_checkpoint(const Session& session, const RunData& run,
                                                     const std::string& path, std::int64_t step) {
    std::shared_ptr<const Checkpoint> best;
    const auto offer = [&](Checkpoint found) {
        if (found.step <= step && (!best || found.step > best->step))
            best = std::make_shared<const Checkpoint>(std::move(found));
    };
    const EmbeddedCheckpoint* embedded = nullptr;
    for (const EmbeddedCheckpoint& inside : session.checkpoints)
        if (inside.run_id == run.id && inside.step <= step && (!embedded || inside.step > embedded->step))
            embedded = &inside;
    if (embedded) offer(load_checkpoint(embedded->session_path, embedded->run_id, embedded->step));
    const CheckpointPair live(path);
    if (auto start = live.start()) offer(std::move(*start));
    for (const std::string& file : live.paths()) {
        try {
            offer(read_checkpoint(file));
        } catch (const InputError&) {
            // Truncated while written: of the alternating pair the other one is complete.
        }
    }
    return best;
}

RunCheckpoint run_at_step(const std::string& path, const std::string& id, std::int64_t step, ThreadPool& pool,
                          std::ostream& progress) {
    Session session = open_session(path);
    RunData& run = chosen_run(session, path, id);
    auto from = nearest_checkpoint(session, run, path, step);
    if (from && from->step == step) return at_checkpoint(*from, path);

    const std::int64_t last = run.steps.step.empty() ? -1 : run.steps.step.back();
    if (step > last) {
        const std::int64_t most = std::max(last, from ? from->step : -1);
        throw InputError(path, "has no step " + std::to_string(step),
                         most >= 0 ? "@ and a step up to " + std::to_string(most) : "a run with steps");
    }
    const std::int64_t begin = from ? from->step : 0;
    try {
        Device& device = replay_device(run);
        const std::string elsewhere = change_of_device(run, device.capabilities().backend);
        Replay replay({std::move(run), std::move(from), step, {}}, device);
        while (!replay.arrived()) replay.advance(pool);
        progress << path << ": replayed from step " << begin << " to " << step << elsewhere << std::endl;
        return at_checkpoint(replay.checkpoint(), path);
    } catch (const InputError& error) {
        throw InputError(path + ": " + error.what());
    }
}

}  // namespace normscope::app
