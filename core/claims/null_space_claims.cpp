// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/probe/spectra/token_block.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

using Matrix = Quantities::Matrix;
using Vector = Eigen::VectorXd;

/// Values of a descending spectrum that float64 does not distinguish from 0.
int nulls_of(const std::vector<double>& values, double relative) {
    return static_cast<int>(std::count_if(values.begin(), values.end(),
                                          [&](double v) { return v <= relative * values.front(); }));
}

/// The spectra [.., d] of an array of the jacobian probe, one per sub-layer or layer.
std::vector<std::vector<double>> spectra(ClaimInput& input, const char* array) {
    const auto d = static_cast<std::size_t>(input.spec().d_model);
    const std::vector<double>& flat = input.values("jacobian", array);
    std::vector<std::vector<double>> result;
    for (std::size_t at = 0; at + d <= flat.size(); at += d) {
        if (!std::isfinite(flat[at])) continue;  // not measured in a wide stack
        result.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(at),
                            flat.begin() + static_cast<std::ptrdiff_t>(at + d));
    }
    if (result.empty()) throw NotMeasured("needs finite spectra of " + std::string(array));
    return result;
}

/// The least and the most of an array of counts; NaN entries are skipped.
struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    std::int64_t samples = 0;
};
Range range_of(const std::vector<double>& values) {
    Range range;
    for (const double v : values) {
        if (std::isnan(v)) continue;
        range.least = std::min(range.least, v);
        range.most = std::max(range.most, v);
        ++range.samples;
    }
    if (range.samples == 0) throw NotMeasured("needs counts of null directions that are defined");
    return range;
}

ClaimResult sublayer_rank(ClaimInput& input) {
    ClaimInput& post = input.with_layer_norm(Scheme::Post);
    const auto d = post.spec().d_model;
    Range nulls;
    double epsilon = 0;  // the second smallest value, relative
    for (const auto& values : spectra(post, "sublayer_sv")) {
        const double count = nulls_of(values, 1e-12);
        nulls.least = std::min(nulls.least, count);
        nulls.most = std::max(nulls.most, count);
        epsilon = std::max(epsilon, values[values.size() - 2] / values.front());
        ++nulls.samples;
    }
    const double eps = post.model().numerics.eps;
    return {stated_or_corrected(nulls.least >= 2, nulls.least >= 1 && eps > 0 && epsilon < 0.1),
            d - nulls.least,
            static_cast<double>(d - 2),
            nulls.least - 2,
            nulls.samples,
            post.variant_name() + "every sub-layer's block of the last token has " + text(nulls.least) +
                " exactly null direction, and one of up to " + text(epsilon) +
                " of the largest value, which ε = " + text(eps) + " keeps"};
}

ClaimResult lost_per_layer(ClaimInput& input) {
    ClaimInput& post = input.with_layer_norm(Scheme::Post);
    const Range nulls = range_of(post.values("jacobian", "layer_exact_nulls"));
    const Range both = range_of(post.values("jacobian", "layer_below_resolution"));
    return {refuted_if(nulls.least < 2),
            nulls.least,
            2,
            2 - nulls.least,
            nulls.samples,
            post.variant_name() + "every layer's block loses " + text(nulls.least) +
                " direction exactly, from its structure; with ε > 0 the other is small, not lost (" +
                text(both.most) + " values are below float64's resolution)"};
}

/// The last feed-forward sub-layer without its post norm: z as a function of x.
ClaimInput& without_last_norm(ClaimInput& post) {
    return post.variant("without the last norm", [](StackSpec& s) {
        LayerOverride last;
        last.index = s.depth - 1;
        last.ffn.post = false;
        s.layers.push_back(last);
    });
}

ClaimResult vanishing_directions(ClaimInput& input) {
    ClaimInput& post = input.with_layer_norm(Scheme::Post);
    ClaimInput& sum = without_last_norm(post);
    if (post.recipe().train.seed != sum.recipe().train.seed || post.run())
        throw NotMeasured("needs the stack at its initial weights");
    const StackSpec& s = sum.spec();
    const int last = 2 * s.depth - 1;
    const auto d = static_cast<Eigen::Index>(s.d_model);
    const BlockMatrix of_sum = token_block(sum.model(), sum.tape(), 0, last, last + 1),
                      of_layer = token_block(post.model(), post.tape(), 0, last, last + 1);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Matrix m = Eigen::Map<const RowMajor>(of_sum.data(), d, d),
                 j = Eigen::Map<const RowMajor>(of_layer.data(), d, d);
    const Tape<double>& tape = sum.tape();
    const auto width = static_cast<std::size_t>(d);
    const HostView<double> z =
        tape.view(tape.hidden.back() + static_cast<std::size_t>(tape.length - 1) * width, width);
    const Vector row = Eigen::Map<const Vector>(z.data(), d);
    const Vector centred = row.array() - row.mean();
    const double eps = post.model().numerics.eps, variance = centred.squaredNorm() / static_cast<double>(d);
    const Eigen::PartialPivLU<Matrix> solver(m);
    const double top = post.quantities().singular_values(j).front();
    // Relative to what J does to any direction: 0 for w of 1, ε's effect for w of ẑ.
    const auto image = [&](const Vector& target) {
        const Vector w = solver.solve(target);
        return (j * w).norm() / (top * w.norm());
    };
    const Vector w = solver.solve(centred);
    const double predicted =
        eps / (variance + eps) / std::sqrt(variance + eps) * centred.norm() / (top * w.norm());
    const double ones = image(Vector::Ones(d)), direction = image(centred);
    const double off = std::abs(direction - predicted) / std::max(predicted, 1e-12);
    return {stated_or_corrected(ones <= 1e-11 && direction <= 1e-11,
                                ones <= 1e-11 && (off <= 1e-3 || direction <= 1e-11)),
            direction,
            0,
            off,
            2,
            post.variant_name() + "w of the direction 1 is lost (" + text(ones) + "), w of ẑ keeps " +
                text(direction) + " of the largest gain, and ε/(var + ε) predicts " + text(predicted)};
}

/// Π over norm sites on the path of √(1 − erased) and of the gain 1/σ_ε.
ClaimResult erased_by_norms(ClaimInput& input) {
    ClaimInput& post = input.with_layer_norm(Scheme::Post);
    const std::vector<double>&erased = post.values("null_space", "erased_backward"),
          &gain = post.values("null_space", "gain");
    double kept = 1, gains = 1;
    std::int64_t sites = 0;
    for (std::size_t i = 0; i < post.model().sites().size(); ++i) {
        if (post.model().sites()[i].place != NormSite::Place::Post) continue;
        kept *= std::sqrt(std::max(0.0, 1 - erased[i]));
        gains *= gain[i];
        ++sites;
    }
    // Of the attenuation by the norms, in logarithms, the share that the null spaces explain.
    const double share = std::log(kept) / (std::log(kept) + std::min(0.0, std::log(gains)));
    return {refuted_if(!(share > 0.5)),
            kept,
            gains,
            share,
            sites,
            post.variant_name() + "the null spaces of " + std::to_string(sites) +
                " norms take the gradient to " + text(kept) + " of itself, the gains 1/σ_ε to " +
                text(gains)};
}

ClaimResult nothing_lost_before_the_end(ClaimInput& input) {
    ClaimInput& pre = input.with_layer_norm(Scheme::Pre);
    const Range within = range_of(pre.values("jacobian", "end_to_end_exact_nulls"));
    int final = 0;
    const auto last_sites = pre.model().sites();
    if (!last_sites.empty() && last_sites.back().place == NormSite::Place::Final) {
        const Tape<double>& tape = pre.tape();
        const auto d = static_cast<std::size_t>(pre.spec().d_model);
        const HostView<double> x =
            tape.view(tape.hidden.back() + static_cast<std::size_t>(tape.length - 1) * d, d);
        NormAtToken at{NormKind::LayerNorm, {x.begin(), x.end()}, {}, {}, 0};
        final = nulls_of(pre.quantities().singular_values(pre.quantities().norm_jacobian(at)), 1e-12);
    }
    return {stated_or_corrected(within.most + final == 0, within.most == 0),
            within.most + final,
            0,
            within.most + final,
            1,
            pre.variant_name() + text(within.most) +
                " directions of the last token are lost before the final "
                "norm, which loses " +
                std::to_string(final) + " (at ε = 0)"};
}

ClaimResult rank_over_depth(ClaimInput& input) {
    ClaimInput& post = input.with_layer_norm(Scheme::Post);
    if (!blocks_multiply(post.spec())) throw NotMeasured("needs causal attention: blocks then multiply");
    Tape<double> tape;
    auto of_theorem = std::make_unique<UniformEps>(post, 0);
    post.model().forward(first_tokens(post.batch(), std::min(post.batch().length, 16)), tape, post.pool());
    std::vector<BlockMatrix> blocks;
    for (int l = 0; l < post.spec().depth; ++l)
        blocks.push_back(token_block(post.model(), tape, 0, 2 * l, 2 * l + 2));
    of_theorem.reset();
    const int d = post.spec().d_model;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    BlockMatrix product = blocks.front();
    int least = d;
    for (std::size_t l = 0; l < blocks.size(); ++l) {
        if (l > 0) product = block_product(blocks[l], product, d);
        const Matrix m = Eigen::Map<const RowMajor>(product.data(), d, d);
        least = std::min(least, nulls_of(post.quantities().singular_values(m), 1e-12));
    }
    const double guaranteed =
        range_of(post.values("jacobian", "end_to_end_exact_nulls")).most;  // at the stack's own ε
    return {holds_if(least >= 2),
            static_cast<double>(d - least),
            static_cast<double>(d - 2),
            static_cast<double>(2 - least),
            post.spec().depth,
            post.variant_name() + "products of 1 to " + std::to_string(post.spec().depth) +
                " layers at ε = 0 have rank ≤ " + std::to_string(d - least) + "; the structure guarantees " +
                text(guaranteed) + " null at the stack's ε, whatever the depth"};
}

ClaimResult no_vanishing_direction(ClaimInput& input) {
    ClaimInput& pre = input.with_layer_norm(Scheme::Pre);
    const auto stack = spectra(pre, "end_to_end_sv").front();
    const double nulls = range_of(pre.values("jacobian", "end_to_end_exact_nulls")).most;
    const double ratio = stack.back() / stack.front();
    return {holds_if(nulls == 0 && ratio > 1e-12),
            ratio,
            0,
            nulls,
            1,
            pre.variant_name() +
                "before the final norm the smallest singular value of the last token's block is " +
                text(stack.back()) + ", the largest " + text(stack.front())};
}

const Claim kNullSpaceRows[] = {
    {"N05", "Thm 3.2", "a Post-LN sub-layer has rank ≤ d − 2", kCorrected, sublayer_rank, "stack.norm.eps"},
    {"N06", "Cor 3.5", "a Post-LN layer loses two directions exactly", kFails, lost_per_layer,
     "stack.norm.eps"},
    {"N07", "Thm 3.6", "Jw = 0 where (I + J_F)w is in span{1, ẑ}", kCorrected, vanishing_directions,
     "stack.norm.eps"},
    {"N08", "Rem 3.7", "the lost directions explain Post-LN's vanishing gradient", kFails, erased_by_norms,
     "stack.residual_step"},
    {"N11", "(i)–(ii)", "Pre-LN loses no direction", kCorrected, nothing_lost_before_the_end,
     "stack.final_norm"},
    {"N12", "Thm 6.3", "L Post-LN layers have rank ≤ d − 2", kHolds, rank_over_depth, "stack.depth"},
    {"N14", "Table 1 row 5", "Pre-LN has no vanishing direction", kHolds, no_vanishing_direction},
};

}  // namespace

std::span<const Claim> null_space_claims() {
    return kNullSpaceRows;
}

}  // namespace normscope
