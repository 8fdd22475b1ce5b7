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

/// Runs a fixed list of independent pieces on a fixed number of threads. Which thread takes which piece is left open;
/// the pieces themselves are cut by the caller from the shape alone, so results never depend on the thread count.
/// Idle threads sleep (they never spin: the window needs the core). One run() at a time; calls do not nest.
class ThreadPool {
  public:
    /// `threads` counts the caller; 0 = as many as the machine has.
    explicit ThreadPool(int threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls piece(0) … piece(count − 1), returns when all are done. The first exception is rethrown here.
    void run(int count, const std::function<void(int)>& piece);

  private:
    void work();
    void take_pieces(std::unique_lock<std::mutex>& lock);

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(int)>* piece_ = nullptr;
    int next_ = 0, count_ = 0, unfinished_ = 0;
    std::uint64_t round_ = 0;
    std::exception_ptr error_;
    bool stop_ = false;
};

}  // namespace normscope
