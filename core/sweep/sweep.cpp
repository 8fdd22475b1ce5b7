// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep.h"

#include "core/backend/cpu/host/thread_pool.h"
#include "core/base/error.h"
#include "core/run/complete.h"
#include "core/run/memory_need.h"
#include "core/sweep/results_writer.h"
#include "core/sweep/sweep_choice.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace normscope {

namespace {

using Clock = std::chrono::steady_clock;

/// Of the memory of a machine, what concurrent runs may need together by memory_need(), which does not count
/// everything.
constexpr double kUsableMemory = 0.8;

/// A pool whose size follows the number of runs in progress: results do not depend on it.
class SharedThreads {
  public:
    SharedThreads(const std::atomic<int>& running, int threads) : running_(running), threads_(threads) {}
    ThreadPool& pool() {
        const int share = std::max(1, threads_ / std::max(1, running_.load()));
        if (!pool_ || pool_->threads() != share) {
            pool_.reset();
            pool_ = std::make_unique<ThreadPool>(share);
        }
        return *pool_;
    }

  private:
    const std::atomic<int>& running_;
    const int threads_;
    std::unique_ptr<ThreadPool> pool_;
};

class Sweep {
  public:
    Sweep(const SweepSpec& spec, Device& device, const SweepOptions& options, SweepWatcher& watcher)
        : spec_(spec),
          device_(device),
          options_(options),
          watcher_(watcher),
          runs_(expand_sweep(spec)),
          operations_(require_valid(spec, runs_, corpora_)),
          folder_(options.folder, spec),
          results_(folder_, spec, runs_, options.timed),
          rows_(results_.rows) {
        if (options_.shard.count > 1 && !spec.choice.keys.empty())
            throw InputError("--shard", "a sweep that chooses values is trained as a whole", "1/1");
        if (!options_.files)
            options_.files = [this](const auto& work) {
                const std::lock_guard lock(file_mutex_);
                work();
            };
    }

    SweepEnd run() {
        if (!folder_.is_locked())
            watcher_.note(folder_.path() +
                          ": its file system has no locks; use the folder in one process at a time");
        find_ended();
        write_first_results();
        watcher_.begun(count());
        begun_ = Clock::now();
        const int threads = ThreadPool(options_.threads).threads();
        const std::vector<std::unique_ptr<Device>> lanes = lanes_of(jobs_of(threads), threads);
        const int jobs = static_cast<int>(lanes.size());
        running_ = jobs;
        std::vector<std::thread> workers;
        for (const auto& lane : lanes)
            workers.emplace_back(
                [this, threads, &device = lane ? *lane : device_] { work(threads, device); });
        for (std::thread& worker : workers) worker.join();
        if (results_.waiting() && !error_) results_.write();
        if (error_) std::rethrow_exception(error_);
        SweepEnd end{stopped_, count(), {}};
        for (const auto& [index, row] : rows_) end.rows.push_back(row);
        return end;
    }

  private:
    /// Takes what is on disk.
    void find_ended() {
        for (const SweepRun& run : runs_) {
            Recipe recipe = recipe_of(spec_, run);
            std::shared_ptr<const Corpus> corpus = complete_and_validate(recipe, &corpora_);
            std::optional<SweepRow> row;
            options_.files([&] { row = folder_.ended(run, recipe, options_.keep_weights); });
            stored_ = std::move(corpus);  // shared by the next one
            if (row) rows_.emplace(run.index, std::move(*row));
        }
        for (const SweepRow& row : options_.known)
            if (row.run < runs_.size()) rows_.emplace(row.run, row);  // where this folder has none
        for (const SweepRun& run : runs_)
            if (options_.shard.has(run.index) && (!choosing() || chooses(spec_, run))) want(run);
        if (!choosing()) return;
        total_ = spec_.trained_runs();
        // The runs at the chosen values are not known yet; they take what the mean run takes.
        double all = 0;
        for (const double one : operations_) all += one;
        expected_ = all / static_cast<double>(runs_.size()) *
                    static_cast<double>(total_ - pending_.size() - earlier_);
        left_ += expected_;
        take_choices();
    }

    bool choosing() const { return !spec_.choice.keys.empty(); }

    /// A run of this sweep: to be trained, unless its result is there.
    void want(const SweepRun& run) {
        if (rows_.contains(run.index)) {
            ++earlier_;
        } else {
            pending_.push_back(&run);
            left_ += operations_[run.index];
        }
        if (!choosing()) ++total_;
    }

    /// Where all runs that choose have ended: those at the chosen values are wanted from now on.
    void take_choices() {
        if (!choosing() || chosen_) return;
        SweepResults results{spec_, runs_, {}};
        for (const auto& [index, row] : rows_) results.rows.push_back(row);
        const auto chosen = chosen_values(results);
        if (!chosen) return;
        chosen_ = true;
        left_ -= expected_;
        for (const SweepRun& run : runs_)
            if (is_scored(spec_, run, *chosen)) want(run);
        for (const ChosenValues& one : *chosen) watcher_.chose(spec_, one);
    }

    int jobs_of(int threads) const {
        const int jobs = options_.jobs > 0 ? options_.jobs : threads;
        return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(jobs), total_ - earlier_));
    }

    /// A lane of the device for each job; null: the device itself, which serves one job, or, in the host's
    /// memory, all. Fewer where the device has no more.
    std::vector<std::unique_ptr<Device>> lanes_of(int jobs, int threads) {
        std::vector<std::unique_ptr<Device>> lanes(static_cast<std::size_t>(jobs));
        if (jobs <= 1 || device_.capabilities().host_readable) return lanes;
        if (auto replicas = replicas_of(jobs, threads); !replicas.empty()) return replicas;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            try {
                lanes[i] = device_.lane();
            } catch (const SystemError& error) {
                watcher_.note(std::to_string(std::max<std::size_t>(i, 1)) +
                              " runs at a time: " + error.what());
            }
            if (!lanes[i]) {
                lanes.resize(std::max<std::size_t>(i, 1));
                break;
            }
        }
        return lanes;
    }

    /// Empty where they are not wanted, or the device has none. Each has memory for the first run: runs of
    /// equal stacks need as much.
    std::vector<std::unique_ptr<Device>> replicas_of(int jobs, int threads) {
        if (!options_.replicas) return {};
        try {
            Recipe recipe = recipe_of(spec_, *pending_.front());
            stored_ = complete_and_validate(recipe, &corpora_);
            return device_.replicas(jobs, replica_bytes(recipe, threads, device_));
        } catch (const SystemError& error) {
            watcher_.note(std::string("no replicas: ") + error.what());
            return {};
        }
    }

    SweepCount count() const {
        SweepCount count{earlier_ + done_, total_, -1};
        const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
        if (done_ > 0 && made_ > 0) count.remaining_seconds = seconds * left_ / made_;
        return count;
    }

    /// With what earlier calls have left.
    void write_first_results() {
        const bool was_there = text_of_file(folder_.path() + "/results.csv").has_value();
        if (results_.write() && was_there && total_ > 0)
            watcher_.note(folder_.path() + "/results.csv: written again from the recordings");
    }

    bool stopping() {
        if (options_.stop && options_.stop()) stopped_ = true;
        return stopped_ || broken_;
    }

    /// The next run; waits while it does not fit into memory with those in progress. Null: no more.
    const SweepRun* next(Recipe& recipe, std::shared_ptr<const Corpus>& corpus, double& need, int threads) {
        std::unique_lock lock(mutex_);
        // The last runs that choose may still be in training.
        fits_.wait(lock,
                   [&] { return !pending_.empty() || taken_ == 0 || !choosing() || chosen_ || stopping(); });
        if (pending_.empty() || stopping()) return nullptr;
        const SweepRun* run = pending_.front();
        pending_.erase(pending_.begin());
        ++taken_;
        recipe = recipe_of(spec_, *run);
        corpus = complete_and_validate(recipe, &corpora_);
        stored_.reset();  // the workers have theirs
        need = memory_need(recipe, threads, device_).total();
        const double limit = kUsableMemory * static_cast<double>(device_.memory().total);
        fits_.wait(lock, [&] { return promised_ == 0 || promised_ + need <= limit; });
        promised_ += need;
        watcher_.started(*run);
        return run;
    }

    void work(int threads, Device& device) {
        SharedThreads shared(running_, threads);
        std::shared_ptr<const Corpus> corpus;  // kept for the next run
        try {
            for (;;) {
                Recipe recipe;
                double need = 0;
                const SweepRun* run = next(recipe, corpus, need, threads);
                if (!run) break;
                const RecordedEnd end = train_recorded(
                    {recipe, run->name, folder_.recording(*run), corpus, options_.keep_weights}, device,
                    [&]() -> ThreadPool& { return shared.pool(); }, [this] { return stopping(); },
                    options_.files);
                const std::lock_guard lock(mutex_);
                promised_ -= need;
                if (promised_ < 1) promised_ = 0;  // bytes: rounding
                --taken_;
                add(*run, end);
                fits_.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            broken_ = true;
            promised_ = 0;
            fits_.notify_all();
        }
        --running_;
    }

    /// Under the lock.
    void add(const SweepRun& run, const RecordedEnd& end) {
        if (!end.note.empty()) watcher_.note(end.note);
        if (end.outcome.state == RunState::Interrupted) return;
        SweepRow row = sweep_row(run, end.recorded);
        row.state = end.outcome.state;
        if (!end.has_recording) {
            row.recording.clear();
            row.seconds.reset();
        }
        ++done_;
        left_ -= operations_[run.index];
        made_ += operations_[run.index];
        const SweepRow& kept = rows_[run.index] = std::move(row);
        results_.write_in_time(earlier_ + done_ >= total_);
        watcher_.ended(run, kept, end.outcome, count());
        take_choices();
    }

    const SweepSpec& spec_;
    Device& device_;
    SweepOptions options_;
    SweepWatcher& watcher_;
    Corpora corpora_;
    const std::vector<SweepRun> runs_;
    const std::vector<double> operations_;
    SweepFolder folder_;
    std::mutex file_mutex_;

    std::mutex mutex_;  ///< of everything below
    std::condition_variable fits_;
    std::shared_ptr<const Corpus> stored_;
    std::vector<const SweepRun*> pending_;
    ResultsWriter results_;
    std::map<std::size_t, SweepRow>& rows_;  ///< of these
    std::size_t total_ = 0, earlier_ = 0, done_ = 0;
    int taken_ = 0;               ///< runs in training
    bool chosen_ = false;         ///< take_choices() is done
    double left_ = 0, made_ = 0;  ///< operations
    double expected_ = 0;         ///< of left_, until chosen_
    double promised_ = 0;         ///< bytes of the runs in progress
    Clock::time_point begun_{};
    std::exception_ptr error_;
    std::atomic<bool> stopped_ = false, broken_ = false;
    std::atomic<int> running_ = 0;
};

}  // namespace

SweepEnd run_sweep(const SweepSpec& spec, Device& device, const SweepOptions& options,
                   SweepWatcher& watcher) {
    return Sweep(spec, device, options, watcher).run();
}

}  // namespace normscope
