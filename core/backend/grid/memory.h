// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace normscope::grid {

/// What a kernel did that a GPU would not forgive, or would forgive on some days: what, where, which thread.
struct GridFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Who accesses memory, and what orders the access before or after another one.
struct AccessTime {
    std::uint32_t launch = 0;      ///< launches are ordered; 0: the host, before every launch
    std::uint32_t block = 0;       ///< linear
    std::uint32_t thread = 0;      ///< in its block
    std::uint32_t barriers = 0;    ///< __syncthreads passed
    std::uint32_t warp_syncs = 0;  ///< __syncwarp passed
    std::uint32_t fences = 0;      ///< __threadfence of the block
};

/// Memory that kernels may use, and for each two bytes of it (neighbouring BF16 are two cells) whether they
/// are allocated and initialised, their last writer and last reader. Finds accesses out of bounds,
/// reads of uninitialised memory, and races: two accesses of the same bytes, one of them a write, that no
/// barrier, __syncwarp or fence with an atomic orders. Of several readers only the last two threads are
/// stored (the writer often reads what it overwrites), so a race can escape one schedule; other seeds find
/// it.
class CheckedMemory {
  public:
    explicit CheckedMemory(std::size_t bytes);
    ~CheckedMemory();
    CheckedMemory(const CheckedMemory&) = delete;
    CheckedMemory& operator=(const CheckedMemory&) = delete;

    /// 256-byte aligned, at least 64 bytes away from the next allocation. Not initialised (NaN bytes).
    /// GridFault when full. May be called from several threads, as release().
    void* allocate(std::size_t bytes);
    void release(void* block);
    bool owns(const void* address) const {
        const auto* p = static_cast<const char*>(address);
        return p >= data_ && p < data_ + size_;
    }
    std::size_t size() const { return size_; }
    std::size_t used() const { return used_; }

    /// Marks bytes as written by the host (an upload, a memset), or checks bytes that it will read: both must
    /// be allocated, bytes to read also initialised.
    void host_wrote(void* begin, std::size_t bytes);
    void host_reads(const void* begin, std::size_t bytes, const char* what) const;

    /// For memory that is allocated elsewhere (a block's shared memory): marks its cells as not allocated.
    void forget(void* begin, std::size_t bytes);
    void mark_uninitialised(void* begin, std::size_t bytes);

    /// Bytes that the kernel of the last launch read before it wrote them, and that it wrote, each once; 0
    /// where accesses are not checked.
    std::pair<std::size_t, std::size_t> touched() const { return {read_, written_}; }
    void begin_launch() { read_ = written_ = 0; }
    /// Memory that touched() skips until it is released: shared memory.
    void leave_uncounted(const char* begin, std::size_t bytes) {
        uncounted_.emplace_back(begin, begin + bytes);
    }

    /// An access of a kernel, with what other blocks have published to this one (by block: fences seen).
    /// Returns its fault, or an empty text.
    std::string access(const void* address, std::size_t bytes, bool write, bool atomic, const AccessTime& now,
                       const std::map<std::uint32_t, std::uint32_t>& seen);

  private:
    enum class State : std::uint8_t { Free, Allocated, Initialised };
    struct Cell {
        AccessTime writer, reader;
        AccessTime other_reader;  ///< the last one that was not `reader`'s thread
        State state = State::Free;
        bool read = false, written = false, atomic = false;
    };
    static constexpr std::size_t kGranule = 2;
    Cell& cell(const void* address) const;
    void set(const void* begin, std::size_t bytes, State state);

    char* data_ = nullptr;
    Cell* cells_ = nullptr;
    std::size_t size_ = 0, used_ = 0;
    std::size_t read_ = 0, written_ = 0;  ///< touched()
    std::vector<std::pair<const char*, const char*>> uncounted_;
    std::mutex mutex_;                           ///< of blocks_ and used_
    std::map<std::size_t, std::size_t> blocks_;  ///< offset -> bytes with the gap
};

}  // namespace normscope::grid
