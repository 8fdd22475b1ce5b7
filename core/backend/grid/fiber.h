// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace normscope::grid {

/// A stack that code runs on, and can be left and entered again: one thread of an emulated block. The entry
/// function must never return; it leaves by switching for the last time. No exception may cross a switch.
class Fiber {
  public:
    Fiber() = default;
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    ~Fiber();

    /// Makes the next switch begin at entry(argument). The stack is allocated once (with an unmapped page
    /// below it, so that an overflow is a fault) and used again.
    void start(void (*entry)(void*), void* argument);
    /// Leaves `from`, which is running, and enters `to`. `last`: `from` is never entered again.
    static void change(Fiber& from, Fiber& to, bool last = false);
    /// Whether an address lies on the stack. False for the fiber of the operating system's thread.
    bool owns(const void* address) const { return address >= low_ && address < high_; }

    static constexpr std::size_t kStackBytes = 64 * 1024;

  private:
    static void begin();
    void arrived();

    char *low_ = nullptr, *high_ = nullptr;
    void* stack_pointer_ = nullptr;
    void (*entry_)(void*) = nullptr;
    void* argument_ = nullptr;
    void* fake_stack_ = nullptr;  ///< AddressSanitizer's
    const void* outer_low_ = nullptr;
    std::size_t outer_size_ = 0;
};

}  // namespace normscope::grid
