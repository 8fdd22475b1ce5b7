// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/model/batch.h"
#include "core/model/transformer.h"
#include "core/recipe/recipe.h"
#include "core/session/stored_tensor.h"
#include "core/train/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Completes and validates what evaluate() uses: stack and optimizer. Data, batch, steps, schedule and
/// precision are unchanged. Throws InputError.
void complete_for_evaluation(Recipe& recipe);

/// A model with these weights. They must be exactly the tensors of the stack, finite, float32 or float64;
/// InputError names the first that is missing, unknown or misshapen and what is expected. `where` begins the
/// message (a file).
template <class T>
Transformer<T> model_with_weights(const StackSpec& stack, const std::vector<StoredTensor>& weights,
                                  const std::string& where, Device& device = cpu_device());

/// /tokens and /targets, int32 [B, n], of an HDF5 file (or of a group in it); checked against the stack's
/// context and vocabulary.
Batch read_batch(const std::string& path, const StackSpec& stack, const std::string& group = "");

struct EvaluationParts {
    bool step = false;      ///< the parameters after one step of the optimizer
    bool jacobian = false;  ///< dense Jacobians of sequence 0 and their singular values
};

struct Evaluation {
    /// In the precision T; singular values are float64. Names and shapes are a public interface:
    /// /hidden [2D+1,B,n,d], /final [B,n,d], /logits [B,n,V], /loss [], /attention [D,B,H,n,n], /grad/NAME;
    /// /step/NAME; /jacobian/sublayer/{i} and /jacobian/end_to_end [n·d,n·d], rows are outputs, with
    /// /singular/… [n·d] descending. Under GPAS these are of the back-propagated map, and
    /// /jacobian_forward/… and /singular_forward/… of the forward map.
    std::vector<StoredTensor> arrays;
    std::optional<Outcome> not_finite;  ///< the first non-finite value, if any
};

/// The parameters after one step with these gradients, as PyTorch takes it: clip_grad_norm_, then the
/// recipe's optimizer, at the base learning rate from zero moments.
template <class T>
std::vector<T> stepped_parameters(const Recipe& recipe, const Transformer<T>& model,
                                  const std::vector<T>& gradients, ThreadPool& pool);

/// One forward and backward pass and the requested parts. Throws InputError where the Jacobians would take
/// more than 4 GiB.
template <class T>
Evaluation evaluate(const Recipe& recipe, const Transformer<T>& model, const Batch& batch,
                    EvaluationParts parts, ThreadPool& pool);

}  // namespace normscope
