// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <string>
#include <vector>

namespace normscope {

/// The extent of one sample of the jacobian probe, so that its cost stays within about 4·10⁹ operations (two
/// to three training steps of the default stack), in a stack of middle width 3·10¹⁰, in a wide one that of a
/// training step on one sequence. Follows from the shape alone: no clock, no weights.
struct JacobianPlan {
    std::vector<int> layers;  ///< from 0, ascending: those whose blocks are measured
    /// All layers are measured, from the tokens on in float64, so that products over the depth are defined.
    /// Otherwise each measured layer starts from the run's hidden state.
    bool whole = false;
    std::vector<int> tokens;  ///< the tokens, from 1, whose blocks are measured; the last one is n
    int prefix = 0;           ///< the full map is that of the first `prefix` tokens; 0: not measured
    bool dense = false;       ///< the full maps as explicit matrices, else by products
    /// The stack's own full map as an explicit matrix, which alone reaches its smallest singular value.
    bool dense_stack = false;
    int sequences = 1;  ///< whose last token's blocks are measured, from the first one on
    int spread = 1;     ///< sequences whose largest end-to-end value is measured, in the run's scalar type
};

/// `length` tokens a sequence, `sequences` in the probe batch.
JacobianPlan plan_jacobian(const StackSpec& spec, int length, int sequences);

/// The extent of the full map, for a title: "whole sequence", "first 16 of 64 tokens", "not measured".
std::string full_map_name(const JacobianPlan& plan, int length);

}  // namespace normscope
