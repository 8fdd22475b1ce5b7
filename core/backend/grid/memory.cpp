// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/grid/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace normscope::grid {

namespace {

constexpr std::size_t kGap = 64, kAlignment = 256;

void* reserve(std::size_t bytes) {
    void* block =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return block;
}

std::string who(const AccessTime& at) {
    if (at.launch == 0) return "the host";
    return "thread " + std::to_string(at.thread) + " of block " + std::to_string(at.block);
}

/// Whether an earlier access is over, for everybody, before `now`.
bool ordered(const AccessTime& earlier, const AccessTime& now,
             const std::map<std::uint32_t, std::uint32_t>& seen) {
    if (earlier.launch != now.launch) return true;
    if (earlier.block != now.block) {
        const auto published = seen.find(earlier.block);
        return published != seen.end() && published->second > earlier.fences;
    }
    if (earlier.thread == now.thread || earlier.barriers < now.barriers) return true;
    return earlier.thread / 32 == now.thread / 32 && earlier.warp_syncs < now.warp_syncs;
}

}  // namespace

CheckedMemory::CheckedMemory(std::size_t bytes) : size_(bytes) {
    data_ = static_cast<char*>(reserve(size_));
    cells_ = static_cast<Cell*>(reserve(size_ / kGranule * sizeof(Cell)));  // zero pages: Cell{} is all zeros
}

CheckedMemory::~CheckedMemory() {
    munmap(data_, size_);
    munmap(cells_, size_ / kGranule * sizeof(Cell));
}

CheckedMemory::Cell& CheckedMemory::cell(const void* address) const {
    return cells_[static_cast<std::size_t>(static_cast<const char*>(address) - data_) / kGranule];
}

void CheckedMemory::set(const void* begin, std::size_t bytes, State state) {
    const auto* p = static_cast<const char*>(begin);
    for (std::size_t i = 0; i < bytes; i += kGranule) {
        cell(p + i) = Cell{};
        cell(p + i).state = state;
    }
}

void CheckedMemory::mark_uninitialised(void* begin, std::size_t bytes) {
    std::memset(begin, 0xff, bytes);
    set(begin, bytes, State::Allocated);
}

void CheckedMemory::forget(void* begin, std::size_t bytes) {
    set(begin, bytes, State::Free);
}

void* CheckedMemory::allocate(std::size_t bytes) {
    const std::size_t whole = (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard lock(mutex_);
    // First fit.
    std::size_t at = 0;
    for (const auto& [offset, length] : blocks_) {
        if (offset - at >= whole) break;
        at = offset + length;
    }
    if (at + whole > size_)
        throw GridFault("out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                        std::to_string(size_ - used_) + " free");
    blocks_.emplace(at, whole);
    used_ += whole;
    mark_uninitialised(data_ + at, bytes);
    return data_ + at;
}

void CheckedMemory::release(void* block) {
    if (!block) return;
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<std::size_t>(static_cast<char*>(block) - data_));
    if (!owns(block) || found == blocks_.end()) throw GridFault("released what was not allocated");
    forget(block, found->second);
    std::erase_if(uncounted_, [&](const auto& range) { return range.first == block; });
    used_ -= found->second;
    blocks_.erase(found);
}

void CheckedMemory::host_wrote(void* begin, std::size_t bytes) {
    host_reads(begin, 0, "a copy to the device");
    for (std::size_t i = 0; i < bytes; i += kGranule) {
        Cell& c = cell(static_cast<char*>(begin) + i);
        if (c.state == State::Free) throw GridFault("a copy to the device runs out of bounds");
        c = Cell{};
        c.state = State::Initialised;
    }
}

void CheckedMemory::host_reads(const void* begin, std::size_t bytes, const char* what) const {
    if (!owns(begin)) throw GridFault(std::string(what) + ": not an address of the device");
    for (std::size_t i = 0; i < bytes; i += kGranule) {
        const Cell& c = cell(static_cast<const char*>(begin) + i);
        if (c.state == State::Free) throw GridFault(std::string(what) + " runs out of bounds");
        if (c.state == State::Allocated) throw GridFault(std::string(what) + " reads uninitialised memory");
    }
}

std::string CheckedMemory::access(const void* address, std::size_t bytes, bool write, bool atomic,
                                  const AccessTime& now, const std::map<std::uint32_t, std::uint32_t>& seen) {
    const auto* p = static_cast<const char*>(address);
    bool counted = true;
    for (const auto& [begin, end] : uncounted_) counted = counted && !(p >= begin && p < end);
    for (std::size_t i = 0; i < bytes; i += kGranule) {
        Cell& c = cell(p + i);
        if (c.state == State::Free) return write ? "writes out of bounds" : "reads out of bounds";
        if (!write && c.state == State::Allocated) return "reads uninitialised memory";
        const bool atomics = atomic && c.atomic;
        if (c.written && !atomics && !ordered(c.writer, now, seen))
            return std::string(write ? "writes" : "reads") + " what " + who(c.writer) +
                   " wrote without a barrier between";
        for (const AccessTime& reader : {c.reader, c.other_reader})
            if (write && c.read && !atomics && !ordered(reader, now, seen))
                return "writes what " + who(reader) + " read without a barrier between";
        const bool was_written = c.written && c.writer.launch == now.launch,
                   was_read = c.read && c.reader.launch == now.launch;
        if (counted && write && !was_written) written_ += kGranule;
        if (counted && !write && !was_read && !was_written) read_ += kGranule;
        if (write) {
            c.writer = now;
            c.written = true;
            c.state = State::Initialised;
            c.atomic = atomic;
        } else {
            if (c.reader.thread != now.thread || c.reader.block != now.block) c.other_reader = c.reader;
            c.reader = now;
            c.read = true;
        }
    }
    return {};
}

}  // namespace normscope::grid
