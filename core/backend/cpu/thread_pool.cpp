// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/thread_pool.h"

#include <algorithm>
#include <utility>

namespace normscope {

ThreadPool::ThreadPool(int threads) {
    if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
}

void ThreadPool::take_pieces(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
        const int mine = next_++;
        const auto* piece = piece_;
        lock.unlock();
        std::exception_ptr error;
        try {
            (*piece)(mine);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (error && !error_) error_ = error;
        if (--unfinished_ == 0) done_.notify_all();
    }
}

void ThreadPool::work() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = 0;
    for (;;) {
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        take_pieces(lock);
    }
}

void ThreadPool::run(int count, const std::function<void(int)>& piece) {
    if (count <= 0) return;
    if (workers_.empty() || count == 1) {
        for (int i = 0; i < count; ++i) piece(i);
        return;
    }
    std::unique_lock lock(mutex_);
    piece_ = &piece;
    next_ = 0;
    count_ = unfinished_ = count;
    error_ = nullptr;
    ++round_;
    wake_.notify_all();
    take_pieces(lock);
    done_.wait(lock, [&] { return unfinished_ == 0; });
    piece_ = nullptr;
    if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

}  // namespace normscope
