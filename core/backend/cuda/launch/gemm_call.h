// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/call.h"
#include "core/backend/cuda/launch/gemm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace normscope::cuda {

/// The same product for replicas: how far apart, in bytes, their operands A, B, C and biases are.
struct Spread {
    using Distances = std::array<std::ptrdiff_t, 4>;
    int count = 1;
    Distances apart{};
};

template <class T, class In>
std::array<const void*, 4> addresses_of(const Gemm<T, In>& g) {
    return {g.A.data, g.B.data, g.C.data, nullptr};
}
inline std::array<const void*, 4> addresses_of(const ShortProduct& g) {
    return {g.A.data, g.B.data, g.C.data, g.bias};
}
template <class T>
std::array<const void*, 4> addresses_of(const Linear<T>& g) {
    return {g.x, g.weight, g.y, g.bias};
}

template <class P>
P* moved(P* at, std::ptrdiff_t bytes) {
    return at ? reinterpret_cast<P*>(reinterpret_cast<std::intptr_t>(at) + bytes) : nullptr;
}
template <class G>
G with_operands_moved(G g, const Spread::Distances& by) {
    g.A.data = moved(g.A.data, by[0]);
    g.B.data = moved(g.B.data, by[1]);
    g.C.data = moved(g.C.data, by[2]);
    return g;
}
template <class T, class In>
Gemm<T, In> moved(const Gemm<T, In>& g, const Spread::Distances& by) {
    return with_operands_moved(g, by);
}
inline ShortProduct moved(const ShortProduct& g, const Spread::Distances& by) {
    ShortProduct all = with_operands_moved(g, by);
    all.bias = moved(g.bias, by[3]);
    return all;
}
template <class T>
Linear<T> moved(Linear<T> g, const Spread::Distances& by) {
    g.x = moved(g.x, by[0]);
    g.weight = moved(g.weight, by[1]);
    g.y = moved(g.y, by[2]);
    g.bias = moved(g.bias, by[3]);
    return g;
}

/// one(g) for each of the replicas.
template <class G, class One>
void for_each_replica(const G& g, const Spread& spread, const One& one) {
    for (int r = 0; r < spread.count; ++r) {
        Spread::Distances by = spread.apart;
        for (std::ptrdiff_t& distance : by) distance *= r;
        one(moved(g, by));
    }
}

/// A product: run(queue, g, spread). arithmetic: a number for the formats of operands and sums.
template <class G, class Run>
struct GemmCall final : Call {
    G product;
    int arithmetic;
    Run multiply;
    Spread spread;

    GemmCall(const G& g, int number, Run run, Spread of = {})
        : product(g), arithmetic(number), multiply(run), spread(of) {}
    void run(const Queue& queue) const override { multiply(queue, product, spread); }
    std::string signature() const override {
        std::string all = typeid(*this).name() + (' ' + std::to_string(arithmetic));
        for (const int number : sizes_of(product)) all += ' ' + std::to_string(number);
        return all;
    }
    /// Where the operands of each replica are as far from those of the one before.
    std::unique_ptr<Call> together(const std::vector<const Call*>& all, Tables&) const override {
        const auto first = addresses_of(product);
        Spread of{static_cast<int>(all.size()), {}};
        for (std::size_t r = 1; r < all.size(); ++r) {
            const G& other = static_cast<const GemmCall*>(all[r])->product;
            const auto at = addresses_of(other);
            Spread::Distances back{};
            for (std::size_t k = 0; k < at.size(); ++k) {
                const std::ptrdiff_t distance =
                    reinterpret_cast<std::intptr_t>(at[k]) - reinterpret_cast<std::intptr_t>(first[k]);
                if (r == 1) of.apart[k] = distance;
                if (distance != static_cast<std::ptrdiff_t>(r) * of.apart[k]) return nullptr;
                back[k] = -distance;
            }
            if (!(moved(other, back) == product)) return nullptr;
        }
        return std::make_unique<GemmCall>(product, arithmetic, multiply, of);
    }
};

}  // namespace normscope::cuda
