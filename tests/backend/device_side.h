// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"
#include "core/backend/pass_ops.h"
#include "core/backend/step_ops.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

// One operation, run on several devices and in several scalars with the same inputs.

namespace normscope::device_side {

/// What an operation wrote, in float64.
using Outputs = std::vector<std::pair<std::string, std::vector<double>>>;

/// The memory of one call on one device.
template <class T>
class Side {
  public:
    using scalar = T;
    explicit Side(Device& device, Rounding rounding = Rounding::None,
                  PrecisionPolicy policy = PrecisionPolicy::Pure)
        : Side(device, device.pass_ops<T>(rounding, policy), rounding) {}
    /// In float64 with inputs rounded to a format: the reference of operations in it.
    struct Reference {
        Rounding inputs;
    };
    Side(Device& device, Reference of) : Side(device, device.pass_ops<T>(), of.inputs) {}
    ~Side() {
        for (const auto& [block, bytes] : blocks_) device_.release(block, bytes);
    }
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;

    LayerOps<T>& layers;
    ElementwiseOps<T>& elementwise;
    StepOps<T>& step;

    /// An array of any type with these values.
    template <class V>
    V* of(const std::vector<V>& values) {
        if (values.empty()) return nullptr;
        V* block = raw<V>(values.size());
        device_.upload(block, values.data(), values.size() * sizeof(V));
        return block;
    }
    /// Rounded to the format of the operations.
    T* in(const std::vector<double>& values) {
        std::vector<T> inputs(values.begin(), values.end());
        if (inputs_ != Rounding::None)
            for (T& v : inputs) v = static_cast<T>(rounded(inputs_, static_cast<float>(v)));
        return of(inputs);
    }
    T* scalar_in(double value) { return in({value}); }
    double* number(double value) { return of(std::vector<double>{value}); }
    /// Not initialised.
    template <class V>
    V* raw(std::size_t count) {
        auto* block = static_cast<V*>(device_.allocate(count * sizeof(V)));
        blocks_.emplace_back(block, count * sizeof(V));
        return block;
    }
    T* out(std::size_t count) { return raw<T>(count); }

    template <class V>
    std::vector<V> values(const V* at, std::size_t count) const {
        std::vector<V> on_host(count);
        device_.download(on_host.data(), at, count * sizeof(V));
        return on_host;
    }
    template <class V>
    std::vector<double> read(const V* at, std::size_t count) const {
        const std::vector<V> on_host = values(at, count);
        return {on_host.begin(), on_host.end()};
    }

  private:
    Side(Device& device, PassOps<T> pass, Rounding inputs)
        : layers(pass.layers),
          elementwise(pass.elementwise),
          step(device.step_ops<T>()),
          device_(device),
          inputs_(inputs) {}

    Device& device_;
    Rounding inputs_;
    std::vector<std::pair<void*, std::size_t>> blocks_;
};

/// Values that float32 holds, so that every scalar has the same inputs: uniform in ±`size`.
inline std::vector<double> drawn(std::size_t count, std::uint64_t seed, double size = 1) {
    std::vector<double> values(count);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (double& v : values) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        v = static_cast<double>(static_cast<float>(
            size * (static_cast<double>(state >> 33) / static_cast<double>(std::uint64_t{1} << 30) - 1)));
    }
    return values;
}

}  // namespace normscope::device_side
