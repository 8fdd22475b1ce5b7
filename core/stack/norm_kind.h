// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

enum class NormKind { LayerNorm, RmsNorm };

/// A norm at one place of a stack.
struct NormSpec {
    NormKind kind = NormKind::LayerNorm;
    double eps = 1e-5;   ///< added to the variance (mean square) inside the root
    bool affine = true;  ///< false: γ stays as it is initialised, and there is no β
    bool operator==(const NormSpec&) const = default;
};

/// A learnable scalar of a kind in addition to γ and β.
struct NormParameter {
    const char* name;  ///< its tensor is NORM.name, directly after γ in the arena
    double initial;
};

/// The directions that a kind's Jacobian erases at every token ([N] §2).
enum class NormNulls { MeanAndInput, Input, None };

/// The properties of a kind, apart from its kernels (core/backend/row, and its cases in
/// cpu/kernels/row_kernels_impl.h): a new kind is a row here, its kernels and its tests.
struct NormKindRow {
    NormKind kind;
    const char* word;  ///< in recipes
    bool bias;         ///< has a β where the stack has biases
    NormNulls nulls;
    std::span<const NormParameter> own = {};
};

const NormKindRow& norm_kind_row(NormKind kind);
/// The words of all kinds, in the order of the enum.
std::span<const char* const> norm_kind_words();

}  // namespace normscope
