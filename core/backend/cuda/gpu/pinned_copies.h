// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace normscope::cuda {

/// Copies between pageable host memory and a device, in order with its stream. Small ones, which a step makes
/// (tokens, knobs, losses), pass through pinned memory: an upload then returns without waiting for the
/// stream. Any thread.
class PinnedCopies {
  public:
    explicit PinnedCopies(cudaStream_t stream);
    ~PinnedCopies();
    PinnedCopies(const PinnedCopies&) = delete;
    PinnedCopies& operator=(const PinnedCopies&) = delete;

    /// `from` may be changed after the call.
    void upload(void* to, const void* from, std::size_t bytes);
    /// Waits for the stream.
    void download(void* to, const void* from, std::size_t bytes);
    /// Does not wait; null where `bytes` are more than kReadBytes. Not after this object.
    std::unique_ptr<Readback> read(const void* from, std::size_t bytes);
    static constexpr std::size_t kReadBytes = std::size_t{64} << 10;

  private:
    static constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
    static constexpr std::size_t kSlots = 8;
    struct Slot {
        unsigned char* memory = nullptr;
        cudaEvent_t done = nullptr;  ///< the last copy from or to it
    };
    class Read;
    static Slot new_slot(std::size_t bytes, unsigned event_flags);
    static void free_slot(const Slot& slot);

    cudaStream_t stream_;
    std::mutex mutex_;
    std::array<Slot, kSlots> slots_;
    std::size_t next_ = 0;
    std::vector<Slot> unread_;  ///< the ring of read(): slots that no Read holds
};

}  // namespace normscope::cuda
