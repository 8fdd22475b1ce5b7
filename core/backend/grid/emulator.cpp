// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/grid/emulator.h"

#include "core/backend/grid/fiber.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

extern "C" {
extern char __executable_start;  // of the program's own sections, where constants are
extern char end;
}

namespace normscope::grid {

namespace {

constexpr std::size_t kDeviceBytes = std::size_t{1} << 30;  // reserved, not used
constexpr std::size_t kResidentBlocks = 2, kMaxThreads = 1024, kSharedGap = 64;

/// The inputs of the lanes of one mask to a warp function. A lane reads its result before the next call, so
/// one entry per mask suffices.
struct Meeting {
    std::uint32_t mask = 0, arrived = 0;
    const void* place = nullptr;
    unsigned char in[kWarp][kWarpBytes], out[kWarp][kWarpBytes];
};

struct Warp {
    std::uint32_t alive = 0;  ///< lanes that have not returned
    std::uint32_t ready = 0;  ///< lanes that can run on
    std::uint32_t at_barrier = 0;
    std::uint32_t syncs = 0;
    std::vector<Meeting> meetings;
};

struct Copy {
    void* to;
    unsigned char bytes[16];
    int group;
};

struct Block;
struct Thread {
    Fiber fiber;
    ThreadIndex index;
    Block* block = nullptr;
    std::vector<Copy> copies;  ///< begun and not waited for
    int group = 0;             ///< that the next copy belongs to
};

struct Block {
    std::uint32_t linear = 0;
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<Warp> warps;
    std::size_t alive = 0, at_barrier = 0;
    const void* barrier = nullptr;  ///< the one that threads wait at
    std::uint32_t barriers = 0, fences = 0;
    int flags = 0, last_flags = 0;
    char* shared = nullptr;
    std::size_t shared_used = 0, declared = 0;
    std::map<const void*, void*> arrays;
    void* dynamic = nullptr;
    std::map<std::uint32_t, std::uint32_t> seen;  ///< fences of other blocks, through atomics
};

struct Random {
    std::uint64_t state;
    std::uint64_t next() {  // splitmix64
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
};

/// One launch. The scheduler is the fiber of the calling thread; every switch passes through it.
struct Launch {
    const char* kernel = "";
    const Body* body = nullptr;
    Dim3 grid, block;
    std::size_t dynamic_shared = 0;
    std::uint32_t number = 0;
    Fiber scheduler;
    Random* random = nullptr;
    std::optional<std::string> failure;
    std::map<const void*, std::map<std::uint32_t, std::uint32_t>>
        published;  ///< by atomic's address: block -> fences
};

thread_local Schedule schedule;
thread_local Launch* launch = nullptr;
thread_local Thread* running = nullptr;
bool checked = false;  // set before main()
std::atomic<bool> checking =
    false;  // in the launch that runs; host code of the same sources also calls the hooks
std::mutex one_launch;
std::uint32_t launches = 0;

// Blocks, their fibers' stacks above all, are used again by the next launch.
std::vector<Block>& caching_allocator() {
    static std::vector<Block> blocks(kResidentBlocks);
    return blocks;
}

AccessTime now() {
    const Block& b = *running->block;
    const unsigned t = running->index.linear;
    return {launch->number, b.linear, t, b.barriers, b.warps[t / kWarp].syncs, b.fences};
}

void leave() {
    Fiber::change(running->fiber, launch->scheduler);
}

void release_barrier(Block& b) {
    ++b.barriers;
    b.at_barrier = 0;
    b.last_flags = b.flags;
    b.flags = 0;
    for (Warp& warp : b.warps) warp.ready |= warp.at_barrier;
    for (Warp& warp : b.warps) warp.at_barrier = 0;
}

void run_thread(void* argument) {
    Thread& self = *static_cast<Thread*>(argument);
    launch->body->run(launch->body->parameters);
    if (!self.copies.empty()) fault("returns with an asynchronous copy that it did not wait for");
    Block& b = *self.block;
    Warp& warp = b.warps[self.index.linear / kWarp];
    const std::uint32_t bit = 1u << self.index.lane();
    warp.alive &= ~bit;
    warp.ready &= ~bit;
    for (const Meeting& m : warp.meetings)
        if (m.arrived && (m.mask & bit)) fault("returns although other lanes wait for it in a warp function");
    --b.alive;
    if (b.at_barrier > 0 && b.at_barrier == b.alive) release_barrier(b);
    Fiber::change(self.fiber, launch->scheduler, true);
}

void start(Block& b, std::uint32_t linear) {
    const Launch& l = *launch;
    const std::size_t count = l.block.count();
    while (b.threads.size() < count) b.threads.push_back(std::make_unique<Thread>());
    b.linear = linear;
    b.warps.assign((count + kWarp - 1) / kWarp, {});
    b.alive = count;
    b.at_barrier = 0;
    b.barriers = b.fences = 0;
    b.flags = b.last_flags = 0;
    b.arrays.clear();
    b.seen.clear();
    if (!b.shared) {
        b.shared = static_cast<char*>(device_memory().allocate(kSharedBytes + kSharedGap));
        device_memory().leave_uncounted(b.shared, kSharedBytes + kSharedGap);
        b.shared_used = kSharedBytes + kSharedGap;
    }
    device_memory().forget(b.shared, b.shared_used);  // of the block before
    b.shared_used = b.declared = 0;
    b.dynamic = nullptr;
    if (l.dynamic_shared > 0) {
        device_memory().mark_uninitialised(b.shared, l.dynamic_shared);
        b.dynamic = b.shared;
        b.shared_used = (l.dynamic_shared + kSharedGap + 63) / 64 * 64;
    }
    const Dim3 at(linear % l.grid.x, linear / l.grid.x % l.grid.y, linear / (l.grid.x * l.grid.y));
    for (std::size_t i = 0; i < b.threads.size(); ++i) {
        Thread& t = *b.threads[i];
        t.block = &b;
        t.copies.clear();
        t.group = 0;
        if (i >= count) continue;
        const auto k = static_cast<unsigned>(i);
        t.index = {Dim3(k % l.block.x, k / l.block.x % l.block.y, k / (l.block.x * l.block.y)), at, l.block,
                   l.grid, k};
        b.warps[i / kWarp].alive |= 1u << (i % kWarp);
        b.warps[i / kWarp].ready = b.warps[i / kWarp].alive;
        t.fiber.start(run_thread, &t);
    }
}

std::string deadlock_text(const Block& b) {
    for (std::size_t w = 0; w < b.warps.size(); ++w)
        if (const std::uint32_t waiting = b.warps[w].alive & ~b.warps[w].at_barrier)
            return "thread " + std::to_string(w * kWarp + static_cast<unsigned>(std::countr_zero(waiting))) +
                   " of block " + std::to_string(b.linear) +
                   " waits in a warp function that not all lanes of its mask reach";
    return "a barrier that not all threads of block " + std::to_string(b.linear) + " reach";
}

/// The next thread that can run: mostly another of the same warp, sometimes of another warp or block.
Thread* choose(std::vector<Block>& blocks, Random& random, const Thread* last) {
    const bool drawn = schedule.order == Schedule::Order::Drawn;
    const std::uint64_t draw = drawn ? random.next() : 0;
    const auto lane_of = [&](Block& b, std::size_t w) -> Thread* {
        const std::uint32_t ready = b.warps[w].ready;
        const int turn = static_cast<int>(draw >> 58) & 31;
        const auto lane = static_cast<std::size_t>(std::countr_zero(std::rotr(ready, turn)) + turn) % kWarp;
        return b.threads[w * kWarp + lane].get();
    };
    if (drawn && last && (draw & 3) != 0 && last->block->warps[last->index.linear / kWarp].ready)
        return lane_of(*last->block, last->index.linear / kWarp);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Block& b = blocks[(static_cast<std::size_t>(draw >> 8) + i) % blocks.size()];
        if (b.alive == 0) continue;
        const std::size_t count = b.warps.size(),
                          from = static_cast<std::size_t>(draw >> 16 & 0xffff) % count;
        for (std::size_t k = 0; k < count; ++k)
            if (const std::size_t w = (from + k) % count; b.warps[w].ready) return lane_of(b, w);
    }
    return nullptr;
}

void run_all(Launch& l) {
    Random random{schedule.seed * 0x9e3779b97f4a7c15u + l.number};
    l.random = &random;
    std::vector<std::uint32_t> order(l.grid.count());
    std::iota(order.begin(), order.end(), 0u);
    if (schedule.order == Schedule::Order::Drawn)
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<Block>& blocks = caching_allocator();
    for (Block& b : blocks) b.alive = 0;
    std::size_t next = 0;
    const Thread* last = nullptr;
    while (true) {
        bool busy = false;
        for (Block& b : blocks) {
            if (b.alive == 0 && next < order.size()) start(b, order[next++]);
            busy = busy || b.alive > 0;
        }
        if (!busy) return;
        Thread* t = choose(blocks, random, last);
        if (!t) {
            const auto waiting =
                std::find_if(blocks.begin(), blocks.end(), [](const Block& b) { return b.alive > 0; });
            l.failure = deadlock_text(*waiting);
            return;
        }
        running = t;
        last = t;
        Fiber::change(l.scheduler, t->fiber);
        if (l.failure) return;
    }
}

}  // namespace

void set_accesses_checked() {
    checked = true;
}
bool accesses_checked() {
    return checked;
}

void set_schedule(const Schedule& s) {
    schedule = s;
}

CheckedMemory& device_memory() {
    static CheckedMemory memory(kDeviceBytes);
    return memory;
}

void launch_on_host(const char* kernel, Dim3 grid, Dim3 block, std::size_t dynamic_shared, const Body& body) {
    if (block.count() == 0 || block.count() > kMaxThreads)
        throw GridFault(std::string(kernel) + ": a block of " + std::to_string(block.count()) +
                        " threads, allowed 1 … 1024");
    if (grid.count() == 0) throw GridFault(std::string(kernel) + ": an empty grid");
    if (dynamic_shared > kSharedBytes)
        throw GridFault(std::string(kernel) + ": " + std::to_string(dynamic_shared) +
                        " bytes of shared memory, allowed " + std::to_string(kSharedBytes));
    const std::lock_guard lock(one_launch);
    device_memory().begin_launch();
    Launch l;
    l.kernel = kernel;
    l.body = &body;
    l.grid = grid;
    l.block = block;
    l.dynamic_shared = dynamic_shared;
    l.number = ++launches;
    launch = &l;
    checking = checked && schedule.checked;
    run_all(l);
    checking = false;
    launch = nullptr;
    running = nullptr;
    if (l.failure) throw GridFault(std::string(kernel) + ": " + *l.failure);
}

const ThreadIndex& this_thread() {
    return running->index;
}

void fault(std::string&& what) {
    launch->failure.emplace(std::move(what));
    launch->failure->insert(0, "thread " + std::to_string(running->index.linear) + " of block " +
                                   std::to_string(running->block->linear) + " ");
    leave();
    std::abort();  // a launch with a failure enters no thread again
}

int block_barrier_count(const void* place, bool flag) {
    Thread& self = *running;
    Block& b = *self.block;
    if (b.at_barrier > 0 && b.barrier != place)
        fault("is at another barrier than other threads of its block");
    b.barrier = place;
    b.flags += flag ? 1 : 0;
    Warp& warp = b.warps[self.index.linear / kWarp];
    if (++b.at_barrier == b.alive) {
        release_barrier(b);
    } else {
        warp.ready &= ~(1u << self.index.lane());
        warp.at_barrier |= 1u << self.index.lane();
        leave();
    }
    return b.last_flags;
}

void block_barrier(const void* place) {
    block_barrier_count(place, false);
}

void device_fence() {
    ++running->block->fences;
}

bool warp_collect(std::uint32_t mask, const void* place, const void* in, std::size_t in_size, void* out,
                  std::size_t out_size, WarpCombine combine) {
    const unsigned lane = running->index.lane();
    Warp& warp = running->block->warps[running->index.linear / kWarp];
    if (!(mask >> lane & 1)) fault("calls a warp function with a mask that does not name its lane");
    if (mask & ~warp.alive)
        fault("calls a warp function with a mask that names lanes which returned or do not exist");
    if (in_size > kWarpBytes || out_size > kWarpBytes) fault("brings too much to a warp function");
    const auto with_mask = [&] {
        return std::find_if(warp.meetings.begin(), warp.meetings.end(),
                            [&](const Meeting& m) { return m.mask == mask; });
    };
    auto m = with_mask();
    if (m == warp.meetings.end()) {
        warp.meetings.push_back({});
        m = warp.meetings.end() - 1;
        m->mask = mask;
    }
    if (m->arrived == 0) m->place = place;
    if (m->place != place) fault("is at another warp function than the other lanes of its mask");
    if (in_size > 0) std::memcpy(m->in[lane], in, in_size);
    m->arrived |= 1u << lane;
    const bool last = m->arrived == mask;
    if (last) {
        if (combine) combine(mask, m->in, m->out);
        m->arrived = 0;
        warp.ready |= mask;
    } else {
        warp.ready &= ~(1u << lane);
        leave();
        m = with_mask();  // other masks may have come since
    }
    if (out_size > 0) std::memcpy(out, m->out[lane], out_size);
    return last;
}

void warp_barrier(std::uint32_t mask, const void* place) {
    Warp& warp = running->block->warps[running->index.linear / kWarp];
    // It orders memory among the lanes of its mask; here that is known for a whole warp only.
    const bool whole = mask == warp.alive;
    if (warp_collect(mask, place, nullptr, 0, nullptr, 0, nullptr) && whole) ++warp.syncs;
}

void warp_exchange(const void* place, const void* in, std::size_t in_size, void* out, std::size_t out_size,
                   WarpCombine combine) {
    Warp& warp = running->block->warps[running->index.linear / kWarp];
    if (warp_collect(0xffffffffu, place, in, in_size, out, out_size, combine)) ++warp.syncs;
}

void* shared_array(const void* declaration, std::size_t bytes) {
    Block& b = *running->block;
    void*& array = b.arrays[declaration];
    if (!array) {
        b.declared += bytes;
        if (b.declared > kDeclaredSharedBytes || b.shared_used + bytes > kSharedBytes)
            fault("declares more shared memory than the " + std::to_string(kDeclaredSharedBytes) +
                  " bytes of a block");
        array = b.shared + b.shared_used;
        device_memory().mark_uninitialised(array, bytes);
        b.shared_used = (b.shared_used + bytes + kSharedGap + 63) / 64 * 64;
    }
    return array;
}

void begin_copy(void* shared, const void* global, bool wanted) {
    for (const void* end : {static_cast<const void*>(shared), global})
        if (reinterpret_cast<std::uintptr_t>(end) % 16 != 0)
            fault("begins a copy at an address that is not 16-byte aligned");
    Copy copy{shared, {}, running->group};
    if (wanted) {
        plain_access(global, sizeof copy.bytes, false);
        std::memcpy(copy.bytes, global, sizeof copy.bytes);
    }
    plain_access(shared, sizeof copy.bytes, true);
    device_memory().mark_uninitialised(shared, sizeof copy.bytes);  // unreadable from now on
    if (launch->random->next() & 1) std::memcpy(shared, copy.bytes, sizeof copy.bytes);
    running->copies.push_back(copy);
}

void commit_copies() {
    ++running->group;
}

void wait_for_copies(int pending_groups) {
    std::vector<Copy>& copies = running->copies;
    const auto done = std::partition(copies.begin(), copies.end(), [&](const Copy& c) {
        return c.group >= running->group - pending_groups;
    });
    for (auto copy = done; copy != copies.end(); ++copy) {
        plain_access(copy->to, sizeof copy->bytes, true);
        std::memcpy(copy->to, copy->bytes, sizeof copy->bytes);
    }
    copies.erase(done, copies.end());
}

void* dynamic_shared_memory() {
    return running->block->dynamic;
}

void plain_access(const void* address, std::size_t bytes, bool write) {
    if (!checking.load(std::memory_order_relaxed) || !running || !launch) return;
    CheckedMemory& memory = device_memory();
    if (memory.owns(address)) {
        std::string wrong = memory.access(address, bytes, write, false, now(), running->block->seen);
        if (!wrong.empty()) fault(std::move(wrong));
        return;
    }
    if (running->fiber.owns(address)) return;
    const auto* p = static_cast<const char*>(address);
    const auto inside = [p](const void* begin, std::size_t size) {
        return p >= static_cast<const char*>(begin) && p < static_cast<const char*>(begin) + size;
    };
    if (!write && inside(&running->index, sizeof running->index)) return;  // threadIdx and its like
    if (!write && inside(launch->body->parameters, launch->body->bytes)) return;
    if (!write && p >= &__executable_start && p < &end) return;  // a constant of the program
    fault(write ? "writes memory of the host" : "reads memory of the host");
}

void atomic_access(const void* address, std::size_t bytes) {
    if (!checking.load(std::memory_order_relaxed)) return;
    CheckedMemory& memory = device_memory();
    if (!memory.owns(address)) fault("makes an atomic operation on memory of the host");
    Block& b = *running->block;
    auto& published = launch->published[address];
    for (const auto& [block, fences] : published) b.seen[block] = std::max(b.seen[block], fences);
    if (b.fences > 0) published[b.linear] = b.fences;
    for (const bool write : {false, true}) {
        std::string wrong = memory.access(address, bytes, write, true, now(), b.seen);
        if (!wrong.empty()) fault(std::move(wrong));
    }
}

}  // namespace normscope::grid
