// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/split_ops.h"
#include "core/model/transformer.h"

#include <array>
#include <functional>

namespace normscope {

/// The relative error of the logits, ‖y_low − y_32‖_F/‖y_32‖_F, by kind of operation.
struct MismatchSplit {
    double all = 0;                                 ///< every kind in the short format
    std::array<double, kOperationKinds> only{};     ///< one kind alone
    std::array<double, kOperationKinds> without{};  ///< all but one
    static MismatchSplit unmeasured();              ///< NaN
    /// only²/all²: what each kind has of the squared error, if errors of different kinds were independent.
    std::array<double, kOperationKinds> share() const;
    /// 1 − Σ share(): the interaction. Negative where errors cancel when all act together.
    double remainder() const;
};

/// Of a float32 model on the CPU without rounding, on one batch; 2·kOperationKinds + 1 forward passes.
/// `check` is called between them and may throw.
MismatchSplit mismatch_split(Transformer<float>& model, const Batch& batch, Rounding format, ThreadPool& pool,
                             const std::function<void()>& check);

}  // namespace normscope
