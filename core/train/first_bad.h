// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/train/outcome.h"

#include <cstdint>
#include <optional>
#include <string>

namespace normscope {

/// The first value of a pass that is not finite, in the order of computation: parameters, then the forward
/// pass layer by layer, then the gradients of parameters from the head down. Names step, layer, operation and
/// token (layers, sequences and tokens from 1), and, where the operation's inputs are finite and its value is
/// beyond what the format holds, that value and the limit: "step 212 · layer 7 ffn.sum · sequence 1 token 9 ·
/// 70112 beyond ±65504 of FP16 · inf". Scores that overflow are named before the softmax that they make NaN.
/// `gradients` is the arena, of the device, or null.
template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>&, const Tape<T>&, const T* gradients,
                                       std::int64_t step);

/// The same for a backward pass whose forward pass is finite: gradients of parameters and of hidden states,
/// from the head down: "step 9 · gradient of final_norm's input · row 3 of 40 · inf".
template <class T>
std::optional<Outcome> first_bad_backward(const Transformer<T>&, const BackwardRecord<T>&, const T* gradients,
                                          std::int64_t step);

/// "layer 3 ffn.w2": the first tensor, in the order of the backward pass, whose gradient has a value that is
/// not finite; empty where there is none. `gradients` is the arena, of the device.
template <class T>
std::string first_bad_gradient(const Transformer<T>&, const T* gradients);

}  // namespace normscope
