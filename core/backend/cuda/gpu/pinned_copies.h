// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <mutex>

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

  private:
    static constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
    static constexpr std::size_t kSlots = 8;
    struct Slot {
        unsigned char* memory = nullptr;
        cudaEvent_t done = nullptr;  ///< the last copy from it
    };
    cudaStream_t stream_;
    std::mutex mutex_;
    std::array<Slot, kSlots> slots_;
    std::size_t next_ = 0;
};

}  // namespace normscope::cuda
