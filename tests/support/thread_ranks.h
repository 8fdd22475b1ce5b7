// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"

#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace normscope::test {

/// Ranks that are threads of this process: what one sends, the others copy between two meetings of all. A
/// rank whose function has ended or thrown is lost to the others.
class ThreadRanks {
  public:
    explicit ThreadRanks(int size) : arrays_(static_cast<std::size_t>(size)), blocks_(arrays_.size()) {
        for (int r = 0; r < size; ++r) ranks_.push_back(std::make_unique<Rank>(*this, r));
    }

    /// Calls `work` in a thread for each rank; rethrows the first exception in the order of the ranks.
    void run(const std::function<void(HostCommunicator&)>& work) {
        std::vector<std::exception_ptr> errors(ranks_.size());
        std::vector<std::thread> threads;
        for (std::size_t r = 0; r < ranks_.size(); ++r)
            threads.emplace_back([&, r] {
                try {
                    work(*ranks_[r]);
                } catch (...) {
                    errors[r] = std::current_exception();
                }
                const std::lock_guard lock(mutex_);
                ended_ = true;
                changed_.notify_all();
            });
        for (std::thread& thread : threads) thread.join();
        for (const auto& error : errors)
            if (error) std::rethrow_exception(error);
    }

  private:
    class Rank final : public HostCommunicator {
      public:
        Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
        int rank() const override { return rank_; }
        int size() const override { return static_cast<int>(all_.ranks_.size()); }
        void all_gather(void* all, const std::vector<std::size_t>& ends) override {
            all_.arrays_[static_cast<std::size_t>(rank_)] = all;
            all_.meet();
            std::size_t begin = 0;
            for (std::size_t r = 0; r < ends.size(); ++r) {
                if (static_cast<int>(r) != rank_)
                    std::memcpy(static_cast<char*>(all) + begin, static_cast<char*>(all_.arrays_[r]) + begin,
                                ends[r] - begin);
                begin = ends[r];
            }
            all_.meet();
        }
        void all_to_all(const std::vector<std::vector<Block>>& to,
                        const std::vector<std::vector<Block>>& from) override {
            all_.blocks_[static_cast<std::size_t>(rank_)] = &to;
            all_.meet();
            for (std::size_t r = 0; r < from.size(); ++r) {
                const std::vector<Block>& sent = all_.blocks_[r]->at(static_cast<std::size_t>(rank_));
                if (sent.size() != from[r].size()) throw std::logic_error("other blocks than were sent");
                for (std::size_t i = 0; i < sent.size(); ++i) {
                    if (sent[i].bytes != from[r][i].bytes)
                        throw std::logic_error("another size than was sent");
                    std::memcpy(from[r][i].data, sent[i].data, sent[i].bytes);
                }
            }
            all_.meet();
        }
        int local_rank() const override { return rank_; }
        int local_size() const override { return size(); }
        void wait_for(const std::function<bool()>& done, std::size_t) override {
            while (!done()) {
                const bool ended = [this] {
                    const std::lock_guard lock(all_.mutex_);
                    return all_.ended_;
                }();
                // What it did before it ended counts.
                if (ended && !done()) throw LostRank("a rank has ended");
                std::this_thread::yield();
            }
        }
        [[noreturn]] void abort(int) noexcept override { std::terminate(); }

      private:
        ThreadRanks& all_;
        int rank_;
    };

    /// Waits for all ranks; LostRank where one has ended.
    void meet() {
        std::unique_lock lock(mutex_);
        const auto meeting = meeting_;
        if (++here_ == ranks_.size()) {
            here_ = 0;
            ++meeting_;
            changed_.notify_all();
            return;
        }
        changed_.wait(lock, [&] { return meeting_ != meeting || ended_; });
        if (meeting_ == meeting) throw LostRank("a rank has ended");
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t here_ = 0, meeting_ = 0;
    bool ended_ = false;
    std::vector<void*> arrays_;
    std::vector<const std::vector<std::vector<Communicator::Block>>*> blocks_;
    std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace normscope::test
