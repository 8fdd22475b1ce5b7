// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/grid/memory.h"

#include <cstddef>
#include <cstdint>
#include <string>

// The emulated grid: CUDA kernels as ordinary functions on the host. Every thread of a block is a fiber; two
// blocks are resident at a time; a seed decides the order of blocks, warps and lanes, so that a missing
// barrier or a wrong index shows in some order. One launch runs on the calling thread alone and returns when
// it is over; launches of several host threads exclude each other. Not modelled: time, bank conflicts,
// registers, caches, weak memory inside a warp.

namespace normscope::grid {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
    Dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1)
        : x(nx), y(ny), z(nz) {}  // NOLINT: as CUDA's dim3
    std::size_t count() const { return std::size_t{1} * x * y * z; }
};

inline constexpr int kWarp = 32;
/// Bytes of shared memory that one block may have (compute capability 8.0 and later have at least 99 KiB),
/// and how many of them its declared arrays may take.
inline constexpr std::size_t kSharedBytes = 99 * 1024, kDeclaredSharedBytes = 48 * 1024;

/// How the coming launches of this thread are run.
struct Schedule {
    enum class Order { Ascending, Drawn };
    Order order = Order::Drawn;
    std::uint64_t seed = 1;
    bool checked = true;  ///< where kernels are instrumented; unchecked ones may use any memory of the host
};
void set_schedule(const Schedule& schedule);

/// Whether kernels are compiled with the instrumentation that calls plain_access() (hooks.cpp); without it no
/// access is checked.
void set_accesses_checked();
bool accesses_checked();

/// The device memory of the emulated grid, one for the process.
CheckedMemory& device_memory();

/// A kernel with its parameters, which its threads may read as constants.
struct Body {
    void (*run)(const void* parameters);
    const void* parameters;
    std::size_t bytes;
};

/// Runs `body` once for every thread. `kernel` names it in faults. GridFault for a race, an access out of
/// bounds, a read of uninitialised memory, a barrier that not all threads of a block reach, a warp function
/// that not all lanes of its mask reach, too much shared memory, or a block of more than 1,024 threads.
void launch_on_host(const char* kernel, Dim3 grid, Dim3 block, std::size_t dynamic_shared, const Body& body);

// --- called by kernels through the CUDA names of grid.h

struct ThreadIndex {
    Dim3 thread, block, block_dim, grid_dim;
    unsigned linear = 0;  ///< in its block
    unsigned lane() const { return linear % kWarp; }
};
[[gnu::const]] const ThreadIndex& this_thread();

void block_barrier(const void* place);
/// The barrier, with the number of threads whose `flag` is true.
int block_barrier_count(const void* place, bool flag);
void warp_barrier(std::uint32_t mask, const void* place);
void device_fence();

/// A function of a whole warp: every lane of `mask` passes in_size bytes; at the last one, combine(mask, in,
/// out) computes the outputs of all lanes (null: nothing to do). Returns true in the last lane, which
/// continues before the others.
inline constexpr std::size_t kWarpBytes = 48;
using WarpCombine = void (*)(std::uint32_t mask, const unsigned char (*in)[kWarpBytes],
                             unsigned char (*out)[kWarpBytes]);
bool warp_collect(std::uint32_t mask, const void* place, const void* in, std::size_t in_size, void* out,
                  std::size_t out_size, WarpCombine combine);

/// warp_collect of a whole warp, which also orders its lanes' accesses to memory as __syncwarp does.
void warp_exchange(const void* place, const void* in, std::size_t in_size, void* out, std::size_t out_size,
                   WarpCombine combine);

/// The block's shared array of this declaration: allocated by the first thread, filled with NaN bytes.
void* shared_array(const void* declaration, std::size_t bytes);
/// The dynamic shared memory of the launch.
void* dynamic_shared_memory();

/// Before an atomic operation on [address, address + bytes): checks it, and takes over and publishes what
/// fences ordered.
void atomic_access(const void* address, std::size_t bytes);
/// A plain access; the compiler's instrumentation calls it for every load and store of a kernel (hooks.cpp).
void plain_access(const void* address, std::size_t bytes, bool write);
/// cp.async of the calling thread (tensor_core.h): 16 bytes to shared memory, zeros where not `wanted`. They
/// complete at once or at the wait, depending on the seed, and are not readable before.
void begin_copy(void* shared, const void* global, bool wanted);
void commit_copies();
void wait_for_copies(int pending_groups);
/// Ends the launch with a fault of the calling thread, whose stack is abandoned: what lies on it is not
/// destroyed, so the text is moved from.
[[noreturn]] void fault(std::string&& what);

}  // namespace normscope::grid
