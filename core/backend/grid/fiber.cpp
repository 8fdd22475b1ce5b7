// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/grid/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define NORMSCOPE_ASAN 1
#endif

#if !defined(__x86_64__)
#error "the emulated grid switches stacks in x86-64 assembly"
#endif

// void normscope_switch_stack(void** save, void* to): keeps what the ABI asks a call to keep, leaves the
// stack pointer in *save and resumes where `to` was left. `pop; jmp` instead of `ret`, whose prediction a
// switched stack defeats.
asm(R"(
.text
.globl normscope_switch_stack
.type normscope_switch_stack, @function
normscope_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
.size normscope_switch_stack, .-normscope_switch_stack
)");
extern "C" void normscope_switch_stack(void** save, void* to);

namespace normscope::grid {

namespace {
// The fiber that is being entered: its first instruction has no other way to know.
thread_local Fiber* entered = nullptr;
}  // namespace

Fiber::~Fiber() {
    if (!low_) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    munmap(low_ - page, kStackBytes + page);
}

void Fiber::start(void (*entry)(void*), void* argument) {
    entry_ = entry;
    argument_ = argument;
    if (!low_) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* block = mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED) throw std::bad_alloc();
        mprotect(block, page, PROT_NONE);
        low_ = static_cast<char*>(block) + page;
        high_ = low_ + kStackBytes;
    }
    // As if begin() had just been called: rsp + 8 is then a multiple of 16, as the ABI asks.
    auto* top = reinterpret_cast<std::uintptr_t*>(high_) - 1;
    *top = 0;
    *--top = reinterpret_cast<std::uintptr_t>(&Fiber::begin);
    for (int i = 0; i < 6; ++i) *--top = 0;
    stack_pointer_ = top;
    fake_stack_ = nullptr;
}

void Fiber::arrived() {
#ifdef NORMSCOPE_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &outer_low_, &outer_size_);
#endif
}

void Fiber::begin() {
    Fiber& self = *entered;
    self.arrived();
    self.entry_(self.argument_);
    std::abort();  // an entry function that returned
}

void Fiber::change(Fiber& from, Fiber& to, [[maybe_unused]] bool last) {
    entered = &to;
#ifdef NORMSCOPE_ASAN
    // The operating system's own stack is known from the first time that a fiber was entered from it.
    const void* low = to.low_ ? to.low_ : from.outer_low_;
    const std::size_t size = to.low_ ? kStackBytes : from.outer_size_;
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack_, low, size);
#endif
    normscope_switch_stack(&from.stack_pointer_, to.stack_pointer_);
    entered->arrived();
}

}  // namespace normscope::grid
