// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/thread_pool.h"

#include "core/backend/cpu/host/available_cores.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/base/assert.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace normscope {

namespace {

std::atomic<int> chosen_threads{0};

}  // namespace

void set_default_threads(int threads) {
    chosen_threads = std::max(0, threads);
}

int default_threads() {
    const int chosen = chosen_threads;
    return chosen > 0 ? chosen : available_cores();
}

ThreadPool::ThreadPool(int threads) {
    if (threads <= 0) threads = default_threads();
    shares_.resize(static_cast<std::size_t>(threads));
    for (std::size_t i = 1; i < shares_.size(); ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
}

int ThreadPool::take(std::size_t thread) {
    Share& own = shares_[thread];
    if (own.next < own.end) return own.next++;
    Share& fullest = *std::max_element(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) {
        return a.end - a.next < b.end - b.next;
    });
    return fullest.next < fullest.end ? --fullest.end : -1;
}

void ThreadPool::run_pieces(std::size_t thread, std::unique_lock<std::mutex>& lock) {
    for (int mine = take(thread); mine >= 0; mine = take(thread)) {
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

void ThreadPool::work(std::size_t thread) {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = 0;
    for (;;) {
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        run_pieces(thread, lock);
    }
}

void ThreadPool::run(int count, const std::function<void(int)>& piece) {
    if (count <= 0) return;
    if (workers_.empty() || count == 1) {
        for (int i = 0; i < count; ++i) piece(i);
        return;
    }
    std::unique_lock lock(mutex_);
    NORMSCOPE_ASSERT(!piece_, "one call of run() at a time, and none from a piece");
    piece_ = &piece;
    const auto threads = static_cast<int>(shares_.size());
    for (int i = 0; i < threads; ++i)
        shares_[static_cast<std::size_t>(i)] = {count * i / threads, count * (i + 1) / threads};
    unfinished_ = count;
    error_ = nullptr;
    ++round_;
    wake_.notify_all();
    run_pieces(0, lock);
    done_.wait(lock, [&] { return unfinished_ == 0; });
    piece_ = nullptr;
    if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

}  // namespace normscope
