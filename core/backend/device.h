// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/formats.h"
#include "core/backend/shared/low_precision.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

class ThreadPool;
template <class T>
class LayerOps;
template <class T>
class ElementwiseOps;
template <class T>
class StepOps;
template <class T>
class CompactOps;

/// The operations of a pass in one scalar and precision (pass_ops.h).
template <class T>
struct PassOps {
    LayerOps<T>& layers;
    ElementwiseOps<T>& elementwise;
    CompactOps<T>* compact = nullptr;  ///< of a step in this precision, where the device has them
};

struct DeviceCapabilities {
    std::string backend;         ///< the word of devices.h: "cpu"
    std::string name;            ///< display name
    bool host_readable = false;  ///< host code may dereference its addresses: views are then free
    Formats formats;             ///< of its operations; fp64 is PassOps<double>
};

/// In bytes.
struct DeviceMemory {
    std::size_t total = 0, free = 0;
};

/// Captured calls of a device, to be launched again (on a GPU: a CUDA graph). Addresses and sizes are those
/// of the capture; values are read from memory at each launch. A device outlives its graphs.
class Graph {
  public:
    virtual ~Graph() = default;
    /// Whether all memory that the calls use is where it was: no block of Device::scratch has moved.
    virtual bool valid() const = 0;
    /// Returns before it is done, as a call.
    virtual void launch() = 0;
};

/// Values that are copied to the host in order with a device's calls, without waiting for them. A device
/// outlives these.
class Readback {
  public:
    virtual ~Readback() = default;
    /// Waits for the copy. The values are valid as long as this object. SystemError where the device is lost.
    virtual const void* wait() = 0;
};

/// Storage of tensors and execution of passes and steps: memory, copies, and sharding of a batch. The
/// operations of a pass are in PassOps (pass_ops.h), one per scalar and precision, those of a training step
/// in StepOps (step_ops.h), one per scalar.
///
/// Addresses of a device are opaque to the host: only its operations and the copies below may dereference
/// them; the host adds offsets to them and compares them with null. Host code accesses values through a
/// HostView or a HostEdit.
///
/// A device executes calls in order (one stream). Reads on the host (download, synchronize) wait for earlier
/// calls; all others may return earlier. upload() may return once `from` may be changed.
///
/// Threads: a pass or a step calls scratch() and operations from the threads of run(); every other function
/// may be called from any thread, one driver at a time for each model. Errors are SystemError (out of memory
/// with the requested size, a lost device) or InputError (unsupported by the device). A device outlives all
/// of its memory.
class Device {
  public:
    virtual ~Device() = default;

    virtual DeviceCapabilities capabilities() const = 0;
    virtual DeviceMemory memory() const = 0;

    /// At least 64-byte aligned, not initialised; null for 0 bytes. SystemError when out of memory.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* block, std::size_t bytes) noexcept = 0;
    virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
    virtual void download(void* to, const void* from, std::size_t bytes) = 0;
    /// A copy of the values at `from` after the calls so far; returns before it is done, where the device
    /// can (here it cannot).
    virtual std::unique_ptr<Readback> read(const void* from, std::size_t bytes);
    /// Within the device.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    virtual void zero(void* to, std::size_t bytes) = 0;
    virtual void synchronize() = 0;

    /// Persistent memory of the calling worker in this slot (below kScratchSlots), of at least that size;
    /// growing may move it and loses its contents. So a step allocates nothing once every worker has run
    /// once.
    virtual void* scratch(int slot, std::size_t bytes) = 0;
    static constexpr int kScratchSlots = 16;

    /// The number of shards of a batch of B sequences, each with its own gradients, which are then summed in
    /// order: a function of B alone, so that results do not depend on threads.
    virtual int shards(int sequences) const = 0;
    /// piece(i) for i = 0 … count − 1, which are independent and may be called in any order on several
    /// workers: the CPU's are the pool's threads. Returns when all have been called; the first exception is
    /// rethrown.
    virtual void run(ThreadPool& pool, int count, const std::function<void(int)>& piece) = 0;
    /// The same for pieces that may share a call: calls range(first, end) so that every piece is in one.
    virtual void run_ranges(ThreadPool& pool, int count, const std::function<void(int, int)>& range) = 0;

    /// Captures what `calls` asks of this device on the calling thread, without doing it; null where the
    /// device has no graphs (as here). `calls` must have been run once, so that it allocates no memory, and
    /// must not copy between host and device (std::logic_error).
    virtual std::unique_ptr<Graph> capture([[maybe_unused]] const std::function<void()>& calls) {
        return nullptr;
    }

    /// A lane: another device on the same card, for a run at the same time as others. Its calls have an order
    /// of their own (on a GPU: a stream), and its memory, scratch and graphs are not this device's; the same
    /// calls give the same bits in each lane. Null where one device serves every run (as here). SystemError
    /// where the card has no memory for it. A device outlives its lanes. Any thread.
    virtual std::unique_ptr<Device> lane() { return nullptr; }

    /// Lanes for runs of equal stacks: `count` of them, with memory for `bytes_each` in each, beyond which a
    /// replica has that of the card. Where their captured steps differ in values alone, one launch does all
    /// of them: a replica that launches its step waits for the others, not for long (cuda/launch/replicas.h).
    /// The bits of a run are those that it has in a lane. Empty where there are no lanes (as here).
    /// SystemError where the card has no memory for them. A device outlives its replicas. Any thread.
    virtual std::vector<std::unique_ptr<Device>> replicas([[maybe_unused]] int count,
                                                          [[maybe_unused]] std::size_t bytes_each) {
        return {};
    }

    /// The operations of a pass in this scalar; float64 has no rounding, and TF32 has one policy
    /// (low_precision.h). InputError where the device has no such arithmetic. Their lifetime is the device's.
    virtual PassOps<float> pass_ops_float(Rounding rounding, PrecisionPolicy policy) = 0;
    virtual PassOps<double> pass_ops_double() = 0;
    /// The operations of a training step in this scalar, which are never rounded; otherwise the same.
    virtual StepOps<float>& step_ops_float() = 0;
    virtual StepOps<double>& step_ops_double() = 0;

    template <class T>
    PassOps<T> pass_ops(Rounding rounding = Rounding::None, PrecisionPolicy policy = PrecisionPolicy::Pure);
    template <class T>
    StepOps<T>& step_ops();
    template <class T>
    T* scratch_of(int slot, std::size_t count) {
        return static_cast<T*>(scratch(slot, count * sizeof(T)));
    }
};

inline std::unique_ptr<Readback> Device::read(const void* from, std::size_t bytes) {
    struct Done final : Readback {
        explicit Done(std::size_t bytes) : values(bytes) {}
        const void* wait() override { return values.data(); }
        std::vector<std::byte> values;
    };
    auto copy = std::make_unique<Done>(bytes);
    if (bytes > 0) download(copy->values.data(), from, bytes);
    return copy;
}

template <>
inline PassOps<float> Device::pass_ops<float>(Rounding rounding, PrecisionPolicy policy) {
    return pass_ops_float(rounding, policy);
}
template <>
inline PassOps<double> Device::pass_ops<double>(Rounding, PrecisionPolicy) {
    return pass_ops_double();
}
template <>
inline StepOps<float>& Device::step_ops<float>() {
    return step_ops_float();
}
template <>
inline StepOps<double>& Device::step_ops<double>() {
    return step_ops_double();
}

/// An owning array in device memory. A copy is a copy within the device.
template <class T>
class Buffer {
  public:
    Buffer() = default;
    Buffer(Device& device, std::size_t count) { resize(device, count); }
    ~Buffer() { reset(); }
    Buffer(const Buffer& other) { *this = other; }
    Buffer& operator=(const Buffer& other) {
        if (this == &other) return *this;
        if (!other.device_) {
            reset();
            return *this;
        }
        resize(*other.device_, other.count_);
        if (count_ > 0) device_->copy(data_, other.data_, count_ * sizeof(T));
        return *this;
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }

    /// Resizes to `count`; a block that is large enough is kept. The contents are undefined unless the size
    /// is unchanged.
    void resize(Device& device, std::size_t count) {
        if (device_ != &device || count > capacity_) {
            reset();
            data_ = static_cast<T*>(device.allocate(count * sizeof(T)));
            device_ = &device;
            capacity_ = count;
        }
        count_ = count;
    }
    void zero() {
        if (count_ > 0) device_->zero(data_, count_ * sizeof(T));
    }
    void upload(Device& device, const T* values, std::size_t count) {
        resize(device, count);
        if (count > 0) device.upload(data_, values, count * sizeof(T));
    }
    void upload(Device& device, const std::vector<T>& values) {
        upload(device, values.data(), values.size());
    }

    T* data() { return data_; }  ///< a device address
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    std::size_t bytes() const { return capacity_ * sizeof(T); }
    Device* device() const { return device_; }

    /// On the host.
    std::vector<T> values() const {
        std::vector<T> on_host(count_);
        if (count_ > 0) device_->download(on_host.data(), data_, count_ * sizeof(T));
        return on_host;
    }

  private:
    void reset() noexcept {
        if (data_) device_->release(data_, capacity_ * sizeof(T));
        data_ = nullptr;
        count_ = capacity_ = 0;
        device_ = nullptr;
    }
    void swap(Buffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        std::swap(capacity_, other.capacity_);
    }

    Device* device_ = nullptr;
    T* data_ = nullptr;
    std::size_t count_ = 0, capacity_ = 0;
};

/// Read access of host code to device memory: the memory itself where host-readable, else a copy. Valid until
/// the device's values change or are released.
template <class T>
class HostView {
  public:
    HostView() = default;
    HostView(Device& device, const T* data, std::size_t count) : data_(data), count_(count) {
        if (!data || device.capabilities().host_readable) return;
        copy_.resize(count);
        device.download(copy_.data(), data, count * sizeof(T));
        data_ = copy_.data();
    }
    HostView(const Buffer<T>& buffer) {  // NOLINT: implicit by design
        if (!buffer.empty()) *this = HostView(*buffer.device(), buffer.data(), buffer.size());
    }
    HostView(HostView&& other) noexcept { *this = std::move(other); }
    HostView& operator=(HostView&& other) noexcept {
        const bool owns = !other.copy_.empty();
        copy_ = std::move(other.copy_);
        data_ = owns ? copy_.data() : other.data_;
        count_ = other.count_;
        return *this;
    }

    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + count_; }

  private:
    const T* data_ = nullptr;
    std::size_t count_ = 0;
    std::vector<T> copy_;
};

/// Write access of host code to device memory: the memory itself where host-readable, else a buffer that
/// commit() uploads. All of it must be written before commit().
template <class T>
class HostEdit {
  public:
    HostEdit(Device& device, T* data, std::size_t count)
        : device_(device), target_(data), data_(data), count_(count) {
        if (device.capabilities().host_readable) return;
        copy_.resize(count);
        data_ = copy_.data();
    }
    HostEdit(const HostEdit&) = delete;
    HostEdit& operator=(const HostEdit&) = delete;

    T* data() { return data_; }
    void commit() {
        if (!copy_.empty()) device_.upload(target_, copy_.data(), count_ * sizeof(T));
    }

  private:
    Device& device_;
    T* target_;
    T* data_;
    std::size_t count_;
    std::vector<T> copy_;
};

template <class T>
HostView<T> view(Device& device, const T* data, std::size_t count) {
    return HostView<T>(device, data, count);
}

/// The CPU: always available (cpu/cpu_device.h).
Device& cpu_device();

}  // namespace normscope
