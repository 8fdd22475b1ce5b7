// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/call.h"
#include "core/backend/cuda/launch/executable.h"
#include "core/backend/device.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace normscope::cuda {

/// The captured steps of replicas, which are launched together: where several replicas have steps of the same
/// calls, up to addresses, and all of them wait for theirs, one graph does them all, with one kernel for the
/// kernels of all. What a step computes does not depend on which replicas are in its graph.
///
/// A replica that others have waited for in vain is not waited for until it is there again: it samples, is
/// paused, or has ended. Any thread; each step has one of its own.
class Replicas {
  public:
    /// patience: how long the replicas that are there wait for the others.
    explicit Replicas(std::chrono::milliseconds patience) : patience_(patience) {}

    /// What the group needs of a replica's device: to make a graph, and memory for tables.
    class Maker {
      public:
        virtual ~Maker() = default;
        virtual std::unique_ptr<Executable> executable(std::vector<const Call*> calls) = 0;
        virtual std::unique_ptr<Tables> tables() = 0;
    };

    /// A captured step. Waits for the others in launch().
    class Step final : public Graph {
      public:
        Step(std::shared_ptr<Replicas> group, int replica, Maker& device, Calls calls,
             const std::atomic<std::uint64_t>& moves);
        ~Step() override;
        bool valid() const override { return moves_ == at_; }
        /// Returns when the graph with this step is launched. The errors of that launch are those of each.
        void launch() override { group_->launch(*this); }

      private:
        friend class Replicas;
        const std::shared_ptr<Replicas> group_;
        const int replica_;
        Maker& device_;
        const Calls calls_;
        std::string signature_;
        const std::atomic<std::uint64_t>& moves_;
        const std::uint64_t at_;
        std::unique_ptr<Executable> alone_;
        // Under the group's lock.
        bool waits_ = false, away_ = false;
        std::uint64_t launches_ = 0;
        std::exception_ptr error_;
    };

    /// Of the last graph with a step of this replica: its replicas and its calls.
    struct Last {
        std::size_t replicas = 0, calls = 0;
    };
    Last last_of(int replica) const {
        std::lock_guard lock(mutex_);
        const auto known = last_.find(replica);
        return known == last_.end() ? Last{} : known->second;
    }

  private:
    /// A graph for several steps.
    struct Joined {
        std::unique_ptr<Tables> tables;
        Calls calls;  ///< those that replace calls of all steps
        std::size_t count = 0;
        std::unique_ptr<Executable> graph;
    };
    using Members = std::vector<Step*>;  ///< in the order of their replicas

    static constexpr std::size_t kKept = 8;  ///< graphs

    void launch(Step& step);
    Members those_of(const std::string& signature) const;
    void launch_all(const Members& members);
    Joined join(const Members& members);

    const std::chrono::milliseconds patience_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Members steps_;
    std::map<Members, Joined> joined_;
    std::map<int, Last> last_;
};

}  // namespace normscope::cuda
