// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/jacobian_sample.h"

#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/probe/interface/jackknife.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

void copy_to(std::vector<double>& to, std::size_t offset, const std::vector<double>& from) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// Of a token's blocks that multiply, the factor with the most exact nulls forces as many on the product;
/// else only the last one does.
int nulls_of_product(const std::vector<double>& factors, std::size_t begin, std::size_t end, bool multiply) {
    const auto first = factors.begin() + static_cast<std::ptrdiff_t>(multiply ? begin : end - 1);
    return static_cast<int>(*std::max_element(first, factors.begin() + static_cast<std::ptrdiff_t>(end)));
}

std::string measured_name(const JacobianPlan& plan, const RequestedBlocks& wanted, int depth) {
    if (plan.whole && wanted.all()) return "all layers";
    std::vector<int> layers;
    for (const int l : plan.layers)
        if (wanted.sublayer(2 * static_cast<std::size_t>(l)) ||
            wanted.sublayer(2 * static_cast<std::size_t>(l) + 1))
            layers.push_back(l);
    if (layers.empty()) return "no layer";
    std::string text = layers.size() == 1 ? "layer " : "layers ";
    for (std::size_t i = 0; i < layers.size(); ++i) text += (i ? ", " : "") + std::to_string(layers[i] + 1);
    text += " of " + std::to_string(depth);
    return plan.whole ? text : text + ", each from the hidden state of the run's precision";
}

}  // namespace

TokenSpectra token_spectra(const Transformer<double>& model, const Tape<double>& tape,
                           const RequestedBlocks& wanted, ThreadPool& pool,
                           const std::function<void()>& check) {
    const int d = model.spec().d_model;
    const auto blocks = sublayer_blocks(model, tape, wanted, pool, check);
    TokenSpectra spectra{block_spectra(blocks, d, pool, check),
                         std::vector<double>(static_cast<std::size_t>(d), kNaN)};
    if (!wanted.all()) return spectra;
    const BlockMatrix stack = stack_block(model, tape, layer_blocks(model, tape, wanted, blocks, pool), pool);
    spectra.stack = block_spectra({stack}, d, pool, check);
    return spectra;
}

JacobianSample::JacobianSample(const StackSpec& spec, const JacobianPlan& plan, RequestedBlocks wanted,
                               int length, int sequences, ThreadPool& pool, std::function<void()> check)
    : spec_(spec),
      plan_(plan),
      requested_(std::move(wanted)),
      length_(length),
      of_sequences_(sequences),
      depth_(spec.depth),
      width_(static_cast<std::size_t>(spec.d_model)),
      rows_(2 * static_cast<std::size_t>(spec.depth)),
      positions_(plan.tokens.size()),
      pool_(pool),
      check_(std::move(check)) {
    for (auto* of_sublayers : {&branch_norm_, &exact_, &epsilon_, &below_, &measured_, &predicted_,
                               &full_top_, &full_top_error_, &full_bottom_, &full_bottom_error_})
        of_sublayers->assign(rows_, kNaN);
    for (auto* of_layers : {&layer_exact_, &layer_below_, &cumulative_median_})
        of_layers->assign(rows_ / 2, kNaN);
    for (auto* single : {&end_exact_, &end_below_, &cumulative_slope_}) single->assign(1, kNaN);
    for (auto* pair : {&full_end_, &full_end_error_}) pair->assign(2, kNaN);
    sublayer_sv_.assign(rows_ * width_, kNaN);
    layer_sv_.assign(rows_ / 2 * width_, kNaN);
    end_to_end_sv_.assign(width_, kNaN);
    position_sv_.assign(rows_ * positions_ * width_, kNaN);
    position_end_.assign(positions_ * width_, kNaN);
}

void JacobianSample::last_token(const Transformer<double>& model, const Tape<double>& tape, int first_layer) {
    const int d = spec_.d_model, last = tape.length - 1;
    const auto first = 2 * static_cast<std::size_t>(first_layer);
    const RequestedBlocks wanted = requested_.layers_from(first_layer, model.spec().depth);
    const auto blocks = sublayer_blocks(model, tape, wanted, pool_, check_);
    const auto values = block_spectra(blocks, d, pool_, check_);
    copy_to(sublayer_sv_, first * width_, values);
    std::vector<double> shortcuts;
    std::vector<BlockMatrix> without_post;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        if (model.rules()[k].post || !wanted.sublayer(k)) continue;
        shortcuts.push_back(model.rules()[k].a);
        without_post.push_back(blocks[k]);
    }
    const auto norms = branch_norms(without_post, shortcuts, d, pool_, check_);
    auto norm = norms.begin();
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        if (!wanted.sublayer(k)) continue;
        const std::span<const double> sigma{values.data() + k * width_, width_};
        if (!model.rules()[k].post) branch_norm_[first + k] = *norm++;
        const bool finite = std::isfinite(sigma.front());
        const NullStructure structure =
            finite ? null_structure(model, tape, static_cast<int>(k), last) : NullStructure{};
        const NullCount count = count_nulls(structure, sigma, block_resolution(d, sigma.front()));
        exact_[first + k] = count.exact;
        epsilon_[first + k] = count.epsilon;
        below_[first + k] = count.below_resolution;
        measured_[first + k] = count.measured;
        predicted_[first + k] = count.predicted;
    }

    const auto layers = layer_blocks(model, tape, wanted, blocks, pool_);
    const auto layer_values = block_spectra(layers, d, pool_, check_);
    copy_to(layer_sv_, static_cast<std::size_t>(first_layer) * width_, layer_values);
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const std::size_t at = static_cast<std::size_t>(first_layer) + l;
        const std::span<const double> sigma{layer_values.data() + l * width_, width_};
        if (!std::isfinite(sigma.front())) continue;
        const bool multiply = blocks_multiply(spec_);
        const int exact = nulls_of_product(exact_, 2 * at, 2 * at + 2, multiply);
        const double resolution = multiply ? product_resolution({blocks[2 * l], blocks[2 * l + 1]}, d)
                                           : block_resolution(d, sigma.front());
        const NullCount count = count_nulls({exact, 0, kNaN}, sigma, resolution);
        layer_exact_[at] = count.exact;
        layer_below_[at] = count.below_resolution;
    }
    if (!whole(model)) return;
    end_to_end_sv_ = block_spectra({stack_block(model, tape, layers, pool_)}, d, pool_, check_);
    stack_nulls(layers);
    cumulate(layers);
}

/// The products of the layers' blocks from the first one on; a causal stack's last token depends on itself
/// alone.
void JacobianSample::cumulate(const std::vector<BlockMatrix>& layers) {
    if (!spec_.causal) return;
    std::vector<BlockMatrix> products{layers.front()};
    for (std::size_t l = 1; l < layers.size(); ++l)
        products.push_back(block_product(layers[l], products.back(), spec_.d_model));
    const std::vector<double> values = block_spectra(products, spec_.d_model, pool_, check_);
    std::vector<double> depths{0}, logs{0};  // of the identity, before the first layer
    for (std::size_t l = 0; l < products.size(); ++l) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(l * width_);
        cumulative_median_[l] = median({first, first + static_cast<std::ptrdiff_t>(width_)});
        if (!(cumulative_median_[l] >
              product_resolution({layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(l) + 1},
                                 spec_.d_model)))
            return;  // a value that float64 cannot tell from 0 has no logarithm, and no slope includes it
        depths.push_back(static_cast<double>(l + 1));
        logs.push_back(std::log(cumulative_median_[l]));
    }
    cumulative_slope_[0] = least_squares_slope(depths, logs);
}

void JacobianSample::stack_nulls(const std::vector<BlockMatrix>& layers) {
    const double largest = end_to_end_sv_.front();
    if (!std::isfinite(largest)) return;
    const int d = spec_.d_model;
    const int exact = nulls_of_product(layer_exact_, 0, layer_exact_.size(), spec_.causal);
    const double resolution = spec_.causal ? product_resolution(layers, d) : block_resolution(d, largest);
    const NullCount count = count_nulls({exact, 0, kNaN}, end_to_end_sv_, resolution);
    end_exact_[0] = count.exact;
    end_below_[0] = count.below_resolution;
}

void JacobianSample::full_map(const Transformer<double>& model, const Tape<double>& tape, int first_layer,
                              const TokenSpectra& last_token) {
    const int count = 2 * model.spec().depth;
    const auto first = 2 * static_cast<std::size_t>(first_layer);
    const double no_bound = kNaN;
    bool any = false;
    for (int k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (!requested_.sublayer(first + at)) continue;
        const bool nulls = exact_[first + at] > 0;
        any = any || nulls;
        const double smallest = spec_.causal ? last_token.sublayers[(at + 1) * width_ - 1] : no_bound;
        const MapEnds ends =
            full_map_ends(model, tape, k, k + 1, plan_.dense, nulls, smallest, pool_, check_);
        full_top_[first + at] = ends.top;
        full_top_error_[first + at] = ends.top_error;
        full_bottom_[first + at] = ends.bottom;
        full_bottom_error_[first + at] = ends.bottom_error;
    }
    if (!whole(model)) return;
    const double smallest = spec_.causal ? last_token.stack.back() : no_bound;
    const MapEnds ends =
        full_map_ends(model, tape, 0, count, plan_.dense_stack, any, smallest, pool_, check_);
    full_end_ = {ends.top, ends.bottom};
    full_end_error_ = {ends.top_error, ends.bottom_error};
}

void JacobianSample::position(std::size_t index, const TokenSpectra& spectra) {
    for (std::size_t k = 0; k < rows_; ++k)
        std::copy_n(spectra.sublayers.begin() + static_cast<std::ptrdiff_t>(k * width_), width_,
                    position_sv_.begin() + static_cast<std::ptrdiff_t>((k * positions_ + index) * width_));
    copy_to(position_end_, index * width_, spectra.stack);
    averaged_.push_back(spectra);
}

ProbeResult JacobianSample::result() {
    const std::size_t layers = rows_ / 2, d = width_, used = averaged_.size();
    std::vector<Averaged> means;
    for (std::size_t i = 0; i < rows_ * d; ++i) {
        std::vector<double> values;
        for (const TokenSpectra& s : averaged_) values.push_back(s.sublayers[i]);
        means.push_back(jackknife(values, 1, [](std::span<const double> total, std::size_t count) {
            return total[0] / static_cast<double>(count);
        }));
    }

    ProbeResult result;
    const auto put = [&](const char* name, std::vector<std::size_t> shape, std::vector<double>& data,
                         std::vector<std::string> axes) {
        result.arrays.push_back({name, std::move(shape), std::move(data), std::move(axes), "1"});
    };
    put("sublayer_sv", {rows_, d}, sublayer_sv_, {"sublayer", "index"});
    put("layer_sv", {layers, d}, layer_sv_, {"layer", "index"});
    put("end_to_end_sv", {d}, end_to_end_sv_, {"index"});
    put("branch_norm", {rows_}, branch_norm_, {"sublayer"});
    put("exact_nulls", {rows_}, exact_, {"sublayer"});
    put("epsilon_directions", {rows_}, epsilon_, {"sublayer"});
    put("below_resolution", {rows_}, below_, {"sublayer"});
    put("epsilon_sigma", {rows_}, measured_, {"sublayer"});
    put("epsilon_predicted", {rows_}, predicted_, {"sublayer"});
    put("layer_exact_nulls", {layers}, layer_exact_, {"layer"});
    put("layer_below_resolution", {layers}, layer_below_, {"layer"});
    put("end_to_end_exact_nulls", {}, end_exact_, {});
    put("end_to_end_below_resolution", {}, end_below_, {});
    put("cumulative_median", {layers}, cumulative_median_, {"layer"});
    result.arrays.push_back({"cumulative_slope", {}, cumulative_slope_, {}, "nat"});
    put("position_sv", {rows_, positions_, d}, position_sv_, {"sublayer", "position", "index"});
    put("position_end_to_end_sv", {positions_, d}, position_end_, {"position", "index"});
    add_averaged(result, "mean_sv", {rows_, d}, means, {"sublayer", "index"}, "1");
    put("end_to_end_top", {tops_.size()}, tops_, {"sequence"});
    put("full_top", {rows_}, full_top_, {"sublayer"});
    put("full_top_error", {rows_}, full_top_error_, {"sublayer"});
    put("full_bottom", {rows_}, full_bottom_, {"sublayer"});
    put("full_bottom_error", {rows_}, full_bottom_error_, {"sublayer"});
    put("full_end_to_end", {2}, full_end_, {"end"});
    put("full_end_to_end_error", {2}, full_end_error_, {"end"});

    const std::string of = " of " + std::to_string(of_sequences_);
    result.labels["full_map"] = {full_map_name(plan_, length_)};
    result.labels["block"] = {"last token, sequence 1" + of};
    for (const int token : plan_.tokens) result.labels["positions"].push_back(std::to_string(token));
    std::string mean = "mean over token";
    for (std::size_t i = 0; i < positions_; ++i)
        mean += (i ? ", " : positions_ > 1 ? "s " : " ") + std::to_string(plan_.tokens[i]);
    mean += " of sequence 1" + of;
    if (used > positions_) mean += ", last token of " + std::to_string(used - positions_) + " more";
    result.labels["mean"] = {mean};
    result.labels["measured"] = {measured_name(plan_, requested_, depth_)};
    return result;
}

}  // namespace normscope
