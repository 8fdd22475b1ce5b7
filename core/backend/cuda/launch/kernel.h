// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/grid/grid.h"

#include <cstddef>
#include <utility>

namespace normscope::cuda {

/// The parameters of a kernel as one value: of std::tuple the compilers would take four times as long.
template <std::size_t Index, class T>
struct Parameter {
    T value;
};
template <class Indices, class... P>
struct ParametersOf;
template <std::size_t... I, class... P>
struct ParametersOf<std::index_sequence<I...>, P...> : Parameter<I, P>... {};
template <class... P>
struct Parameters : ParametersOf<std::index_sequence_for<P...>, P...> {};

template <auto Body, std::size_t... I, class... P>
NORMSCOPE_KERNEL void apply_to(const ParametersOf<std::index_sequence<I...>, P...>& parameters) {
    Body(static_cast<const Parameter<I, P>&>(parameters).value...);
}

/// What `Body` computes, launched as a kernel.
template <auto Body, class... P>
__global__ void one_kernel(P... parameters) {
    Body(parameters...);
}
/// The same for replicas with parameters of their own, one for each block of the z axis, which no body uses
/// otherwise.
template <auto Body, class... P>
__global__ void replicas_kernel(const Parameters<P...>* parameters) {
    apply_to<Body>(parameters[blockIdx.z]);
}
template <class Bounds, auto Body, class... P>
__global__ void __launch_bounds__((Bounds::threads), (Bounds::blocks)) one_bounded_kernel(P... parameters) {
    Body(parameters...);
}
template <class Bounds, auto Body, class... P>
__global__ void __launch_bounds__((Bounds::threads), (Bounds::blocks))
    replicas_bounded_kernel(const Parameters<P...>* parameters) {
    apply_to<Body>(parameters[blockIdx.z]);
}

/// A kernel with these parameters, as it is launched for one run and for replicas.
template <class... P>
struct Kernel {
    void (*one)(P...);
    void (*replicas)(const Parameters<P...>*);
};

template <auto Body, class... P>
constexpr Kernel<P...> make_kernel(void (*)(P...)) {
    return {one_kernel<Body, P...>, replicas_kernel<Body, P...>};
}
template <class Bounds, auto Body, class... P>
constexpr Kernel<P...> make_bounded_kernel(void (*)(P...)) {
    return {one_bounded_kernel<Bounds, Body, P...>, replicas_bounded_kernel<Bounds, Body, P...>};
}

/// The kernel of a function that is declared as NORMSCOPE_KERNEL.
template <auto Body>
inline constexpr auto kernel_of = make_kernel<Body>(Body);
/// The same with at most Bounds::threads in a block, of which Bounds::blocks should fit on a multiprocessor.
template <class Bounds, auto Body>
inline constexpr auto bounded_kernel_of = make_bounded_kernel<Bounds, Body>(Body);

}  // namespace normscope::cuda
