// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/theory/lipschitz.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

using Matrix = Quantities::Matrix;

/// "the first 4 tokens, maps of 256 × 256".
std::string extent(ClaimInput& input) {
    const auto size = input.maps().sublayers.front().rows();
    return "the first " + std::to_string(input.maps().tokens) + " tokens of a sequence, maps of " +
           std::to_string(size) + " × " + std::to_string(size);
}

/// A random [n, n] matrix of spectral norm `norm`.
Matrix random_branch(ClaimInput& input, RandomNumbers& random, int n, double norm) {
    Matrix a(n, n);
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = random.normal();
    return a * (norm / input.quantities().singular_values(a).front());
}

Matrix plus_identity(const Matrix& a) {
    return Matrix::Identity(a.rows(), a.cols()) + a;
}

/// The product of all sub-layers' maps.
Matrix product_of_maps(ClaimInput& input) {
    Matrix product = input.maps().sublayers.front();
    for (std::size_t k = 1; k < input.maps().sublayers.size(); ++k)
        product = input.maps().sublayers[k] * product;
    return product;
}

/// The Pre-LN stack with a step so small that every branch's norm is below 1.
ClaimInput& with_small_step(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    double most = 0;
    for (std::size_t k = 0; k < pre.maps().sublayers.size(); ++k) most = std::max(most, pre.branch_norm(k));
    const double step = pre.spec().residual_step * 0.25 / std::max(most, 0.25);
    return pre.variant("with scheme pre and Δt " + text(step), [&](StackSpec& s) {
        s.scheme = Scheme::Pre;
        s.layers.clear();
        s.layout = Layout::Serial;
        s.residual_step = step;
    });
}

ClaimResult smallest_value(ClaimInput& input) {
    Worst worst;
    RandomNumbers random(9);
    for (int i = 0; i < 100; ++i) {
        const double norm = random.uniform(0.05, 2);
        const Matrix a = random_branch(input, random, 8, norm);
        const double smallest = input.quantities().singular_values(plus_identity(a)).back();
        worst.add(1 - norm - smallest, smallest, 1 - norm);
    }
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    for (std::size_t k = 0; k < pre.maps().sublayers.size(); ++k)
        worst.add(1 - pre.branch_norm(k) - pre.map_values(k).back(), pre.map_values(k).back(),
                  1 - pre.branch_norm(k));
    return worst.result(holds_if(worst.residual <= 1e-10),
                        pre.variant_name() + "100 random matrices and every sub-layer, " + extent(pre) +
                            "; the paper's derivation drops cross terms, the inequality holds");
}

ClaimResult invertible(ClaimInput& input) {
    Worst worst;
    RandomNumbers random(10);
    for (int i = 0; i < 100; ++i) {
        const Matrix a = random_branch(input, random, 8, random.uniform(0.05, 0.99));
        const double smallest = input.quantities().singular_values(plus_identity(a)).back();
        worst.add(-smallest, smallest, 0);
    }
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    int attention = 0, feed_forward = 0;
    for (std::size_t k = 0; k < pre.maps().sublayers.size(); ++k) {
        if (!(pre.branch_norm(k) < 1)) continue;
        ++(k % 2 == 0 ? attention : feed_forward);
        worst.add(-pre.map_values(k).back(), pre.map_values(k).back(), 0);
    }
    const std::string of = " of " + std::to_string(pre.spec().depth);
    return worst.result(holds_if(worst.residual < 0),
                        pre.variant_name() + "100 random matrices and the sub-layers with ‖A‖ < 1: " +
                            std::to_string(attention) + of + " of attention, " +
                            std::to_string(feed_forward) + of + " of the feed-forward map (" + extent(pre) +
                            ")");
}

ClaimResult product_of_smallest(ClaimInput& input) {
    Worst worst;
    int vacuous = 0, stacks = 0;
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    for (ClaimInput* stack : {&pre, &with_small_step(input)}) {
        std::vector<double> norms;
        Matrix product = stack->maps().sublayers.front();
        for (std::size_t k = 0; k < stack->maps().sublayers.size(); ++k) {
            norms.push_back(stack->branch_norm(k));
            if (k > 0) product = stack->maps().sublayers[k] * product;
            if (k % 2 == 0) continue;  // of 1, 2, … layers
            const double bound = residual_min_singular_value(norms);
            const double smallest = stack->quantities().singular_values(product).back();
            ++stacks;
            vacuous += bound == 0;
            worst.add(bound > 0 ? (bound - smallest) / bound : -1, smallest, bound);
        }
    }
    return worst.result(holds_if(worst.residual <= 1e-9 && vacuous < stacks),
                        pre.variant_name() +
                            "stacks of 1 to all layers, at their Δt and at one with ‖A‖ ≤ ¼ (" + extent(pre) +
                            "); " + std::to_string(vacuous) + " of " + std::to_string(stacks) +
                            " bounds are vacuous, and they tend to 0 with depth");
}

ClaimResult identity_path(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    const auto& maps = pre.maps();
    const int count = 2 * pre.spec().depth;
    const Matrix whole = pre.quantities().jacobian(pre.model(), maps.tape, 0, count, Jacobian::Backprop);
    const Matrix identity = Matrix::Identity(whole.rows(), whole.cols());
    Matrix sum = Matrix::Zero(whole.rows(), whole.cols());
    for (const Matrix& map : maps.sublayers) sum += map - identity;
    const double algebra = (product_of_maps(pre) - whole).norm() / whole.norm();
    const double norm = pre.quantities().singular_values(whole).front(),
                 first = pre.quantities().singular_values(sum).front(),
                 remainder = pre.quantities().singular_values(whole - identity - sum).front();
    const bool small = remainder < first;
    return {!(algebra <= 1e-9) ? ClaimVerdict::Fails
            : small            ? ClaimVerdict::Holds
                               : ClaimVerdict::Corrected,
            remainder,
            first,
            algebra,
            1,
            pre.variant_name() + "the algebra is exact, but the remainder is not small: ‖J‖ = " + text(norm) +
                ", ‖ΣJ_k‖ = " + text(first) + ", ‖R‖ = " + text(remainder) + " (" + extent(pre) + ")"};
}

double condition(const std::vector<double>& values) {
    return values.front() / values.back();
}

ClaimResult condition_of_a_step(ClaimInput& input) {
    Worst worst;
    RandomNumbers random(5);
    for (int i = 0; i < 100; ++i) {
        const double rho = random.uniform(0.05, 0.95);
        const Matrix a = random_branch(input, random, 8, rho);
        worst.add_bounded(condition(input.quantities().singular_values(plus_identity(a))),
                          (1 + rho) / (1 - rho));
    }
    int blocks = 0;
    ClaimInput& pre = with_small_step(input);
    for (std::size_t k = 1; k < pre.maps().sublayers.size(); k += 2) {
        const double rho = pre.branch_norm(k);
        if (!(rho < 1)) continue;
        ++blocks;
        worst.add_bounded(condition(pre.map_values(k)), (1 + rho) / (1 - rho));
    }
    return worst.result(holds_if(worst.residual <= 1e-9 && blocks > 0),
                        "100 random matrices and " + std::to_string(blocks) +
                            " feed-forward sub-layers with ρ < 1; " + pre.variant_name() + extent(pre));
}

ClaimResult condition_over_depth(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    int above = 0;
    for (std::size_t k = 0; k < pre.maps().sublayers.size(); ++k) above += !(pre.branch_norm(k) < 1);
    ClaimInput& small = with_small_step(input);
    Worst worst;
    Matrix product =
        Matrix::Identity(small.maps().sublayers.front().rows(), small.maps().sublayers.front().cols());
    double bound = 1;
    for (std::size_t k = 0; k < small.maps().sublayers.size(); ++k) {
        const double rho = small.branch_norm(k);
        if (!(rho < 1)) throw NotMeasured("needs a step at which every branch has ρ < 1");
        bound *= (1 + rho) / (1 - rho);
        product = small.maps().sublayers[k] * product;
        if (k % 2 == 1) worst.add_bounded(condition(small.quantities().singular_values(product)), bound);
    }
    return worst.result(holds_if(worst.residual <= 1e-9),
                        small.variant_name() +
                            "every ρ < 1; at the stack's own Δt the bound is vacuous, as " +
                            std::to_string(above) + " of " + std::to_string(pre.maps().sublayers.size()) +
                            " sub-layers have ρ ≥ 1");
}

ClaimResult relaxed_condition(ClaimInput& input) {
    Worst condition_number, amplification;
    RandomNumbers random(7);
    for (int i = 0; i < 50; ++i) {
        Matrix product = Matrix::Identity(6, 6);
        double bound = 1;
        for (int layer = 0; layer < 4; ++layer) {
            const double rho = random.uniform(0.1, 0.9);
            product = plus_identity(random_branch(input, random, 6, rho)) * product;
            bound *= 1 + rho;
        }
        const auto values = input.quantities().singular_values(product);
        condition_number.add_bounded(condition(values), bound);
        amplification.add_bounded(values.front(), bound);
    }
    return condition_number.result(
        refuted_if(condition_number.residual > 1e-9, amplification.residual <= 1e-9),
        "50 random stacks of four: a condition number of " + text(condition_number.value) +
            " against Π(1 + ρ) = " + text(condition_number.bound) +
            "; it bounds the forward amplification instead");
}

ClaimResult product_of_steps(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    const auto& maps = pre.maps();
    const auto& q = pre.quantities();
    const int count = 2 * pre.spec().depth;
    const Matrix whole = q.jacobian(pre.model(), maps.tape, 0, count, Jacobian::Backprop);
    const double by_sublayer = (product_of_maps(pre) - whole).norm() / whole.norm();
    // One factor a block, with both maps at the block's input: I + A_attn + A_ffn.
    const Matrix first = maps.sublayers[0], second = maps.sublayers[1];
    const Matrix block = q.jacobian(pre.model(), maps.tape, 0, 2, Jacobian::Backprop);
    const Matrix one = first + second - Matrix::Identity(first.rows(), first.cols());
    const double by_block = (one - block).norm() / block.norm();
    return {stated_or_corrected(by_block <= 1e-9, by_sublayer <= 1e-9),
            by_block,
            0,
            by_sublayer,
            count,
            pre.variant_name() + "two factors a block, attention and the feed-forward map, give J within " +
                text(by_sublayer) + "; one factor a block is " + text(by_block) + " of its norm off (" +
                extent(pre) + ")"};
}

const Claim kResidualRows[] = {
    {"E17", "Thm 5.4 (ii)", "J = I + ΣJ_k + a small remainder", kCorrected, identity_path,
     "stack.residual_step"},
    {"N09", "Lemma 4.4", "σ_min(I + A) ≥ 1 − ‖A‖", kHolds, smallest_value, "stack.residual_step"},
    {"N10", "Thm 4.6", "‖A‖ < 1 makes a Pre-LN sub-layer invertible", kHolds, invertible,
     "stack.residual_step"},
    {"N13", "Thm 6.4", "σ_min of the stack ≥ Π(1 − ‖A‖)", kHolds, product_of_smallest, "stack.residual_step"},
    {"B05", "Thm 2", "κ(I + J) ≤ (1 + ρ)/(1 − ρ)", kHolds, condition_of_a_step, "stack.residual_step"},
    {"B06", "Cor 1", "the product of these bounds the stack's condition number", kHolds, condition_over_depth,
     "stack.residual_step"},
    {"B07", "relaxation", "Π(1 + ρ) bounds the condition number", kFails, relaxed_condition},
    {"K15", "eq 18", "J = Π(I + Δt·∇f)", kCorrected, product_of_steps, "stack.residual_step"},
};

}  // namespace

std::span<const Claim> residual_claims() {
    return kResidualRows;
}

}  // namespace normscope
