// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/train/outcome.h"

#include <cstdint>
#include <optional>
#include <string>

namespace normscope {

/// The first value of a pass that is not finite, in the order of computation: parameters, then the
/// forward pass layer by layer (bad_forward.h), then the gradients from the head down. Names step, layer,
/// operation, and where they are known row, value and limit (bad_place.h; layers from 1, as on screen).
/// `gradients` is the arena, of the device, or null.
template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>&, const Tape<T>&, const T* gradients,
                                       std::int64_t step);

/// The same for a backward pass whose forward pass is finite: gradients of parameters and of hidden states,
/// from the head down: "step 9 · gradient of final_norm's input · row 2 · inf".
template <class T>
std::optional<Outcome> first_bad_backward(const Transformer<T>&, const BackwardRecord<T>&, const T* gradients,
                                          std::int64_t step);

/// "layer 3 ffn.w2": the first tensor, in the order of the backward pass, whose gradient has a value that is
/// not finite; empty where there is none. `gradients` is the arena, of the device.
template <class T>
std::string first_bad_gradient(const Transformer<T>&, const T* gradients);

}  // namespace normscope
