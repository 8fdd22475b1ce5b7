// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra.h"

#include "core/base/nan.h"
#include "core/probe/spectra/depth_measures.h"
#include "core/probe/spectra/jacobian_map.h"
#include "core/probe/spectra/token_spectrum.h"

#include <algorithm>
#include <string>
#include <utility>

namespace normscope {

namespace {

constexpr int kValues = 16;
// Up to this size the explicit matrix is as cheap as the search; larger end to end, for the smallest values.
constexpr int kDense = 256, kDenseEndToEnd = 1024;

/// Rows of values with their errors, as a pair of arrays.
class Table {
  public:
    Table(std::string name, std::vector<std::string> axes) : name_(std::move(name)), axes_(std::move(axes)) {}
    void add(const std::vector<double>& values, const std::vector<double>& errors) {
        values_.insert(values_.end(), values.begin(), values.end());
        errors_.insert(errors_.end(), errors.begin(), errors.end());
    }
    void put_into(ProbeResult& result, const std::vector<std::size_t>& shape) {
        result.arrays.push_back({name_, shape, std::move(values_), axes_, "1"});
        result.arrays.push_back({name_ + "_error", shape, std::move(errors_), axes_, "1"});
    }

  private:
    std::string name_;
    std::vector<std::string> axes_;
    std::vector<double> values_, errors_;
};

}  // namespace

template <class T>
ProbeResult probe_spectra(ProbeInput<T>& input) {
    input.use_tangents();
    const StackSpec& stack = input.model.spec();
    const Tape<T>& tape = input.tape();
    const int depth = stack.depth, size = tape.length * stack.d_model, count = std::min(kValues, size);
    const auto check = [&input] { input.check_cancelled(); };
    const auto map_of = [&](int begin, int end) {
        return jacobian_map(input.model, tape, 0, begin, end, Jacobian::Backprop, input.pool);
    };
    const auto spectrum_of = [&](int begin, int end, bool of_layer, int dense) {
        const SpectrumOptions options{
            .count = count, .vectors = of_layer, .frobenius = of_layer, .check = check};
        const LinearMap map = map_of(begin, end);
        return size <= dense ? dense_spectrum(map, options) : block_lanczos(map, options, input.pool);
    };

    Table sublayer_top("sublayer_top", {"sublayer", "index"}), layer_top("layer_top", {"layer", "index"});
    Table whole_top("end_to_end_top", {"index"}), whole_bottom("end_to_end_bottom", {"index"});
    Table rank("stable_rank", {"layer"});
    std::vector<double> alignments, gains;
    std::vector<LinearMap> layers;

    const bool all = input.selects_all();
    Spectrum none;
    none.top.assign(static_cast<std::size_t>(count), kNaN);
    none.top_error = none.bottom = none.bottom_error = none.top;
    const Spectrum whole = all ? spectrum_of(0, 2 * depth, false, kDenseEndToEnd) : none;
    whole_top.add(whole.top, whole.top_error);
    whole_bottom.add(whole.bottom, whole.bottom_error);
    Spectrum before;
    for (int l = 0; l < depth; ++l) {
        if (!input.selects_layer(l)) {
            layer_top.add(none.top, none.top_error);
            rank.add({kNaN}, {kNaN});
            if (l > 0) alignments.push_back(kNaN);
            continue;
        }
        Spectrum layer = spectrum_of(2 * l, 2 * l + 2, true, kDense);
        layer_top.add(layer.top, layer.top_error);
        const Estimate directions = stable_rank(layer);
        rank.add({directions.value}, {directions.error});
        gains.push_back(layer.top.front());
        if (l > 0) alignments.push_back(input.selects_layer(l - 1) ? alignment(before, layer) : kNaN);
        before = std::move(layer);
        layers.push_back(map_of(2 * l, 2 * l + 2));
    }
    for (int k = 0; k < 2 * depth; ++k) {
        const Spectrum s = !input.selects_sublayer(k) ? none
                           : token_by_token(stack, k, tape.length)
                               ? token_spectrum(input.model, tape, 0, k, count, input.pool, check)
                               : spectrum_of(k, k + 1, false, kDense);
        sublayer_top.add(s.top, s.top_error);
    }

    ProbeResult result;
    const auto D = static_cast<std::size_t>(depth), k = static_cast<std::size_t>(count);
    sublayer_top.put_into(result, {2 * D, k});
    layer_top.put_into(result, {D, k});
    whole_top.put_into(result, {k});
    whole_bottom.put_into(result, {k});
    rank.put_into(result, {D});
    if (depth > 1) result.arrays.push_back({"alignment", {D - 1}, std::move(alignments), {"layer"}, "1"});
    result.arrays.push_back(
        {"product_gain", {}, {all ? product_gain(whole.top.front(), gains) : kNaN}, {}, "1"});
    LyapunovExponents lyapunov =
        all ? lyapunov_exponents(layers, count, 0, input.pool, check) : LyapunovExponents{none.top, none.top};
    result.arrays.push_back({"lyapunov", {k}, std::move(lyapunov.values), {"index"}, "nat"});
    result.arrays.push_back({"lyapunov_error", {k}, std::move(lyapunov.errors), {"index"}, "nat"});
    return result;
}
template ProbeResult probe_spectra<float>(ProbeInput<float>&);
template ProbeResult probe_spectra<double>(ProbeInput<double>&);

namespace {

/// 16 singular values of whole-sequence maps of every range of layers, some 64 products and transposes each.
double spectra_operations(const ProbeShape& s) {
    // Of about four ranges that cover the stack, one is of the sub-layers and one of the layers.
    const double ranges = s.part.sublayers == 1 ? 4 : s.part.sublayers + s.part.layers;
    return 64 * 16 * s.depth * ranges * forward_operations(s, s.length, s.length);
}

}  // namespace

ProbeInfo spectra_probe() {
    constexpr unsigned flags = kAveraged | kMayBeNan, whole = flags | kNeedsAll;
    return {"spectra",
            "Spectra of whole sequences",
            "σ_i of the Jacobian over all tokens of a sequence; ‖J‖_F²/‖J‖₂²",
            "[N] §3 to §6, [E] Theorem 5.4; Rudelson and Vershynin 2007 (stable rank), Benettin et al. 1980 "
            "(Lyapunov exponents)",
            ProbeNeeds::Tangents,
            ProbeCost::Expensive,
            spectra_operations,
            probe_spectra<float>,
            probe_spectra<double>,
            {{"sublayer_top",
              {axis::sublayer, axis::index},
              "largest singular values of a sub-layer, all tokens",
              flags},
             {"layer_top", {axis::layer, axis::index}, "of a layer", flags},
             {"end_to_end_top", {axis::index}, "of the stack", whole},
             {"end_to_end_bottom", {axis::index}, "the stack's smallest ones", whole},
             {"stable_rank", {axis::layer}, "‖J‖_F²/‖J‖₂² of a layer", flags},
             {"alignment",
              {axis::layer_pair},
              "of a layer's output directions with the next one's input",
              kMayBeNan | kOptional},
             {"product_gain",
              {},
              "the stack's largest value ÷ the product of the layers'",
              kMayBeNan | kNeedsAll},
             {"lyapunov", {axis::index}, "Lyapunov exponents over the depth", whole, "nat"}},
            {},
            false};
}

}  // namespace normscope
