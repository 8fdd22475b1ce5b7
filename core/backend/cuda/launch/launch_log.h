// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace normscope::cuda {

/// What a call moves through device memory, and computes: every byte that it reads or writes, once however
/// often it is accessed; floating-point operations of its terms, a multiply-add is two. Of an entry, or of a
/// launch.
struct Traffic {
    double read = 0, written = 0, flops = 0;
    double bytes() const { return read + written; }
    Traffic operator*(double count) const { return {read * count, written * count, flops * count}; }
    Traffic operator+(const Traffic& o) const {
        return {read + o.read, written + o.written, flops + o.flops};
    }
};

/// A call of a device: a kernel, a GEMM, or a copy.
struct LoggedCall {
    const char* name = "";
    std::size_t blocks = 0, threads = 0;  ///< of a kernel
    Traffic traffic;
    bool stated = false;  ///< `traffic` is known
    /// Bytes that the kernel read and wrote, where the emulated grid checks accesses.
    Traffic touched;
};

/// The calls of a device in order, with what they move, which the caller of a launch states (state()). On the
/// host alone; a card has none. One thread at a time.
class LaunchLog {
  public:
    /// False: calls are counted, not made.
    bool executes = true;
    std::vector<LoggedCall> calls;

    /// Of the call that follows.
    void state(const Traffic& traffic) {
        next_ = traffic;
        stated_ = true;
    }
    void add(const char* name, std::size_t blocks = 0, std::size_t threads = 0) {
        calls.push_back({name, blocks, threads, next_, std::exchange(stated_, false), {}});
        next_ = {};
    }

  private:
    Traffic next_;
    bool stated_ = false;
};

/// What body(i) moves, where it states that: `Traffic moves() const` of one entry.
template <class Body>
void state_entries(LaunchLog* log, const Body& body, double count) {
    if constexpr (requires { body.moves(); })
        if (log) log->state(body.moves() * count);
}

}  // namespace normscope::cuda
