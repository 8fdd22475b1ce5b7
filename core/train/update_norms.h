// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/parameters.h"
#include "core/recipe/place_selection.h"
#include "core/recipe/train_spec.h"

#include <span>
#include <string>
#include <vector>

namespace normscope {

/// How far one update of the optimizer moves each group of tensors, as a share of its length.
struct UpdateNorms {
    std::vector<std::string> groups;
    std::vector<double> ratio;  ///< [groups] ‖θ_after − θ_before‖₂/‖θ_before‖₂; NaN where θ_before is zero
    /// [groups] share of the entries with √v̂ < ε, of those that had a gradient: there the optimizer divides
    /// by ε rather than by the gradient's size. NaN without second moments.
    std::vector<double> under_eps;
    /// [groups] share of the entries that the update would leave as they are if BF16 were their only copy,
    /// bf16(bf16(θ) + Δθ) = bf16(θ), of those with Δθ ≠ 0. NaN where there are none.
    std::vector<double> bf16_unmoved;
    std::string made_by;  ///< a description if not the update of a run's own step; else empty
};

/// What an update divided by; arenas, on the host. √v̂ = √second/root_correction.
template <class T>
struct SecondMoments {
    std::vector<T> first, second;
    double root_correction, eps;
    OptimizerKind kind;
};

/// The groups of a stack, along the depth; a function of the table alone:
///   embedding      token and position embeddings (a tied head is among them)
///   blocks.L.attn  matrices and biases of layer L's attention
///   blocks.L.ffn   those of its feed-forward map
///   norms          gains and biases of every norm, those on q and k included
///   scales         learnable branch scales and gates of GPAS
///   head           its weight
/// A group whose tensors the stack does not have, or has frozen, is skipped: at most 2D + 4.
std::vector<std::string> update_groups(const ParameterTable& table);

/// The change between two arenas of `table`, summed in float64, with the moments after it or null; NaN of the
/// groups that are not selected.
template <class T>
UpdateNorms update_norms(const ParameterTable& table, std::span<const T> before, std::span<const T> after,
                         const SecondMoments<T>* moments, const PlaceSelection& only = {});

/// The same groups, all NaN: of a step whose update was skipped, or without one.
UpdateNorms no_update(const ParameterTable& table);

}  // namespace normscope
