// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace normscope {

/// Runs a fixed list of independent pieces on a fixed number of threads. Each thread starts with its own
/// contiguous share of the pieces, the same in every call, so that data of a piece is still in that core's
/// cache in the next pass (cores may share no cache); idle threads take pieces of others. The caller cuts the
/// pieces from the shape alone, so results never depend on the thread count. Idle threads sleep (they never
/// spin: the window needs the core). One run() at a time; calls do not nest.
class ThreadPool {
  public:
    /// `threads` counts the caller; 0 = one per core.
    explicit ThreadPool(int threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls piece(0) … piece(count − 1), returns when all are done. The first exception is rethrown here.
    void run(int count, const std::function<void(int)>& piece);

  private:
    struct Share {
        int next = 0, end = 0;
    };
    void work(std::size_t thread);
    void run_pieces(std::size_t thread, std::unique_lock<std::mutex>& lock);
    /// A piece of this thread's share, or, when that is empty, the last one of the largest other share; −1:
    /// none.
    int take(std::size_t thread);

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(int)>* piece_ = nullptr;
    std::vector<Share> shares_;  ///< one per thread; 0 is the caller's
    int unfinished_ = 0;
    std::uint64_t round_ = 0;
    std::exception_ptr error_;
    bool stop_ = false;
};

}  // namespace normscope
