// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_work.h"

#include "core/base/error.h"
#include "core/run/checkpoints/run_file.h"
#include "core/run/memory_need.h"
#include "core/run/recording.h"
#include "core/session/recording/recovery.h"
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

namespace normscope {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kWriteInterval = 100ms;
constexpr auto kCheckpointInterval = 5s;

/// Collects the deltas of a run and passes them to its recording at most ten times a second: a call to the
/// files may wait for another run's. A run that has its result before the first of them is not recorded
/// (unrecorded()).
class Outlet final : public RunSink {
  public:
    Outlet(Recording& recording, const FileCalls& files, Clock::duration unrecorded)
        : recording_(recording),
          files_(files),
          next_write_(Clock::now() + unrecorded),
          has_data_(recording.last_step() >= 0),
          begun_(has_data_) {}

    void add(const RunDelta& delta) override {
        has_data_ = has_data_ || !delta.steps.empty() || !delta.probes.empty();
        merge(waiting_, delta);
        ended_ = ended_ || (delta.outcome && is_result(delta.outcome->state));
        if (ended_ && !begun_) return;
        const bool over = delta.outcome && delta.outcome->state != RunState::Running;
        if (over || Clock::now() >= next_write_) write();
    }
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override {
        if (ended_) return;  // the last one goes into the session, if at all
        write();
        guarded([&] { recording_.save(checkpoint); });
    }
    /// Whether there is something to record.
    bool has_data() const { return has_data_; }
    /// All of a run that has its result and is not recorded; null: it is recorded.
    const RunDelta* unrecorded() const { return ended_ && !begun_ ? &waiting_ : nullptr; }
    /// What waits, where a run breaks off.
    void finish() { write(); }
    /// Of the files; null if there was none.
    const std::exception_ptr& error() const { return error_; }

  private:
    template <class Work>
    void guarded(Work&& work) {
        try {
            files_(work);
        } catch (...) {
            error_ = std::current_exception();
            throw;
        }
    }
    void write() {
        next_write_ = Clock::now() + kWriteInterval;
        begun_ = true;
        if (!waiting_.empty()) guarded([&] { recording_.add(std::exchange(waiting_, {})); });
    }

    Recording& recording_;
    const FileCalls& files_;
    RunDelta waiting_;
    Clock::time_point next_write_;
    bool has_data_, begun_, ended_ = false;
    std::exception_ptr error_;
};

/// Puts a recording that cannot be used out of the way, so that nothing of it is lost. Returns what it did,
/// for the note; throws SystemError.
std::string move_aside(const std::string& path) {
    if (!is_recorded(path)) return "";
    const std::filesystem::path damaged = path + ".damaged";
    std::error_code error;
    std::filesystem::rename(path, damaged, error);
    if (error) throw SystemError(path + ": is damaged and cannot be renamed: " + error.message());
    return "; renamed to " + damaged.filename().string();
}

/// What the run continues from; nullopt: from step 0, with the reason in `note` where there was something.
std::optional<Resumption> resumption_of(const RecordedRun& run, std::string& note) {
    std::optional<Resumption> found;
    try {
        found = find_resumption(run.path, run.recipe);
    } catch (const InputError& error) {
        note = error.what() + move_aside(run.path) + "; trained again from step 0";
    }
    if (!found || !found->checkpoint) CheckpointPair(run.path).remove();
    return found;
}

/// The session of a run that was not recorded.
void save_run(const std::string& path, const RunData& run, std::optional<Checkpoint> last) {
    std::vector<CheckpointSource> checkpoints;
    if (last) checkpoints.push_back({run.id, std::make_shared<const Checkpoint>(std::move(*last))});
    save_session(path, std::vector<const RunData*>{&run}, "", checkpoints);
}

RecordedEnd failed(const std::string& what, std::string note) {
    return {{RunState::Failed, 0, what, -1}, {}, false, std::move(note)};
}

}  // namespace

RecordedEnd train_recorded(RecordedRun given, Device& device, const std::function<ThreadPool&()>& pool,
                           const std::function<bool()>& stop, const FileCalls& files) {
    RecordedEnd end;
    std::optional<Resumption> resumed;
    files([&] { resumed = resumption_of(given, end.note); });

    std::unique_ptr<Experiment> built;
    RunStart start;
    std::shared_ptr<const RunData> header;
    std::optional<Run> run;
    std::optional<Recording> recording;
    std::optional<Outlet> outlet;
    try {
        require_device(given.recipe, pool().threads(), device);
        built = std::make_unique<Experiment>(given.recipe, "a", given.name, given.corpus, device);
        if (resumed && resumed->checkpoint) {
            RunData& history = resumed->history;
            start.checkpoint = std::make_shared<const Checkpoint>(std::move(*resumed->checkpoint));
            cut_after(history, start.checkpoint->step - 1);
            start.events.push_back({start.checkpoint->step, "resume",
                                    "from the checkpoint of this step" +
                                        change_of_device(history, device.capabilities().backend)});
            const RunData now = built->header();
            history.backend = now.backend;
            history.device = now.device;
            header = start.history = std::make_shared<const RunData>(std::move(history));
        } else {
            header = std::make_shared<const RunData>(built->header());
        }
        recording.emplace(given.path, header);
        outlet.emplace(*recording, files, given.unrecorded);
        if (outlet->has_data()) header.reset();  // the rows of a resumed run: its recording has them
        run.emplace(std::move(built), std::move(start), *outlet, kCheckpointInterval);
    } catch (const std::exception& error) {  // does not fit the device, or into memory
        return failed(error.what(), end.note);
    }

    try {
        run->begin();
        do {
            run->advance(pool(), run->experiment().steps_a_call());
            if (!run->ended() && stop()) run->interrupt("the sweep was stopped", "the sweep was stopped");
        } while (!run->ended());
        files([&] { recording->close(); });
        end.outcome = run->outcome();
    } catch (const std::exception& error) {
        end.outcome = {RunState::Failed, run->experiment().steps_done(), error.what(), -1};
        if (!outlet->error()) outlet->finish();
        files([&] { recording->abandon(end.outcome); });
        if (outlet->error() || run->ended()) throw;  // else a checkpoint did not fit into memory
    }
    const bool result = is_result(end.outcome.state);
    std::optional<Checkpoint> last;
    if (result && given.keep_weights) last = run->experiment().checkpoint();
    files([&] {
        if (!outlet->has_data()) return;
        end.has_recording = true;
        if (const RunDelta* all = outlet->unrecorded()) {
            end.recorded = *header;
            append(end.recorded, *all);
            save_run(given.path, end.recorded, std::move(last));
        } else {
            end.recorded = result ? save_as_session(given.path, "", std::move(last)) : recover(given.path);
        }
    });
    return end;
}

}  // namespace normscope
