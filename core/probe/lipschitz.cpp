// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/lipschitz.h"

#include "core/base/nan.h"
#include "core/model/rope_table.h"
#include "core/probe/bounds/layer_bounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace normscope {

namespace {

constexpr double kSearchBudget = 1.6e11;     ///< of a search: about 0.9 s on two cores
constexpr std::uint64_t kDirectionSeed = 1;  ///< of the directions, the same at every step

/// The maps of a layer that are searched.
enum Map { kAttentionMap, kFeedForwardMap, kAttentionSublayerMap, kFeedForwardSublayerMap, kLayerMap, kMaps };

/// The model and a tape without the rounding of an emulated precision.
template <class T>
struct Exact {
    explicit Exact(ProbeInput<T>& input) : model(&input.model) {
        if constexpr (std::is_same_v<T, float>) {
            if (input.model.rounding() != Rounding::None) {
                own.emplace(input.model, 0, input.model.spec().depth, true);
                own->forward(input.batch, own_tape, input.pool);
                model = &*own;
                tape = &own_tape;
                return;
            }
        }
        tape = &input.tape();
    }
    const Transformer<T>* model;
    const Tape<T>* tape = nullptr;
    std::optional<Transformer<T>> own;
    Tape<T> own_tape;
};

/// [kMaps·D]: the largest gains found, NaN in layers that were not searched.
template <class T>
std::vector<double> search(const Transformer<T>& model, const Tape<T>& tape, const LipschitzPlan& plan,
                           ProbeInput<T>& input) {
    const int D = model.spec().depth;
    Buffer<T> angles;
    angles.upload(model.device(), rope_table<T>(model.spec()));
    std::vector<double> found(static_cast<std::size_t>(kMaps * D), kNaN);
    const auto selected = [&](int layer, int kind) {
        if (kind == kLayerMap) return input.selects_layer(layer);
        return input.selects_sublayer(2 * layer +
                                      (kind == kFeedForwardMap || kind == kFeedForwardSublayerMap));
    };
    input.pool.run(kMaps * static_cast<int>(plan.layers.size()), [&](int piece) {
        const int layer = plan.layers[static_cast<std::size_t>(piece / kMaps)], kind = piece % kMaps;
        if (!selected(layer, kind)) return;
        input.check_cancelled();
        TokenMap<T> map;
        if (kind == kAttentionMap || kind == kFeedForwardMap)
            map = branch_map(model, tape, 0, 2 * layer + kind - kAttentionMap, angles);
        else if (kind == kLayerMap)
            map = sublayer_map(model, tape, 0, 2 * layer, 2 * layer + 2);
        else
            map = sublayer_map(model, tape, 0, 2 * layer + kind - kAttentionSublayerMap,
                               2 * layer + kind - kAttentionSublayerMap + 1);
        const NormalKey key(kDirectionSeed,
                            "lipschitz." + std::to_string(layer) + "." + std::to_string(kind));
        found[static_cast<std::size_t>(kind * D + layer)] =
            largest_token_gain(model.device(), tape.length, model.spec().d_model, map, plan.effort, key);
    });
    return found;
}

std::string layers_text(const std::vector<int>& layers, int depth) {
    if (static_cast<int>(layers.size()) == depth) return "all layers";
    if (layers.empty()) return "no layer";
    std::string text = "layer";
    for (const int layer : layers) text += (layer == layers.front() ? " " : ", ") + std::to_string(layer + 1);
    return text;
}

}  // namespace

LipschitzPlan plan_lipschitz(const ProbeShape& s) {
    const double length = s.length, layer = length * (s.layer_weights() + 2 * length * s.d_q);
    // Each map alone, the sub-layers once more, and the layer: three times the layer; a JVP or a VJP takes
    // about two forward passes.
    const auto cost = [&](const SearchEffort& e) {
        const double tried = std::min<double>(e.tokens, s.length);
        const double halved = tried > e.starts ? 4 * tried : 0;  // two sweeps of n, n/2, n/4 …
        return 3 * layer * 4 * (halved + e.starts * (e.sweeps + 1));
    };
    LipschitzPlan plan;
    // Fewer tokens, then fewer ascents, where all of them would take too long for a single layer.
    if (cost(plan.effort) > kSearchBudget) plan.effort.tokens = 64;
    if (cost(plan.effort) > kSearchBudget) plan.effort = {1, 2, 8};
    const int most = std::clamp(
        static_cast<int>(std::min<double>(s.depth, kSearchBudget / cost(plan.effort))), 1, s.depth);
    for (int i = 0; i < most; ++i)
        plan.layers.push_back(most == 1 ? s.depth / 2 : i * (s.depth - 1) / (most - 1));
    plan.operations = most * cost(plan.effort);
    return plan;
}

template <class T>
ProbeResult probe_lipschitz(ProbeInput<T>& input) {
    input.use_tangents();
    const Exact<T> exact(input);
    const Transformer<T>& model = *exact.model;
    const Tape<T>& tape = *exact.tape;
    const StackSpec& s = model.spec();
    const auto D = static_cast<std::size_t>(s.depth);
    ProbeShape shape = probe_shape(s, 1, 1);
    shape.length = tape.length;
    const LipschitzPlan plan = plan_lipschitz(shape);

    std::vector<LayerBounds> bounds(D);
    input.pool.run(s.depth, [&](int layer) {
        const LayerParts parts{input.selects_sublayer(2 * layer), input.selects_sublayer(2 * layer + 1)};
        if (!parts.attention && !parts.feed_forward) return;
        input.check_cancelled();
        bounds[static_cast<std::size_t>(layer)] =
            layer_bounds(model, tape, layer, parts, [&input] { input.check_cancelled(); });
    });
    const std::vector<double> found = search(model, tape, plan, input);

    ProbeResult result;
    const auto by_layer = [&](const char* name, auto&& value) {
        std::vector<double> values;
        for (const LayerBounds& b : bounds) values.push_back(value(b));
        result.arrays.push_back({name, {D}, std::move(values), {"layer"}, "1"});
    };
    const auto by_sublayer = [&](const char* name, auto&& value) {
        std::vector<double> values;
        for (const LayerBounds& b : bounds)
            for (std::size_t half = 0; half < 2; ++half) values.push_back(value(b, half));
        result.arrays.push_back({name, {2 * D}, std::move(values), {"sublayer"}, "1"});
    };
    const auto measured = [&](const char* name, Map kind) {
        const auto begin = found.begin() + static_cast<std::ptrdiff_t>(kind * D);
        result.arrays.push_back(
            {name, {D}, std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(D)), {"layer"}, "1"});
    };
    by_layer("attention_value", [](const LayerBounds& b) { return b.attention.value; });
    by_layer("attention_scores", [](const LayerBounds& b) { return b.attention.scores; });
    by_layer("attention", [](const LayerBounds& b) { return b.attention.total(); });
    by_layer("attention_paper", [](const LayerBounds& b) { return b.attention_paper; });
    measured("attention_measured", kAttentionMap);
    by_layer("ffn", [](const LayerBounds& b) { return b.feed_forward; });
    measured("ffn_measured", kFeedForwardMap);
    by_sublayer("sublayer", [](const LayerBounds& b, std::size_t half) { return b.sublayer[half].total(); });
    by_sublayer("sublayer_eps",
                [](const LayerBounds& b, std::size_t half) { return b.sublayer_eps[half].total(); });
    std::vector<double> sublayer_found;
    for (std::size_t k = 0; k < 2 * D; ++k)
        sublayer_found.push_back(found[(kAttentionSublayerMap + k % 2) * D + k / 2]);
    result.arrays.push_back({"sublayer_measured", {2 * D}, std::move(sublayer_found), {"sublayer"}, "1"});
    by_layer("layer", [](const LayerBounds& b) { return b.layer; });
    by_layer("layer_eps", [](const LayerBounds& b) { return b.layer_eps; });
    measured("layer_measured", kLayerMap);

    std::vector<double> gains, gains_eps;
    for (const NormSite& site : model.sites()) {
        const bool selected = input.selects(site.name);
        if (selected) input.check_cancelled();
        gains.push_back(selected ? site_gain(model, tape, site, false) : kNaN);
        gains_eps.push_back(selected ? site_gain(model, tape, site, true) : kNaN);
        result.labels["sites"].push_back(site.name);
    }
    const std::size_t sites = gains.size();
    result.arrays.push_back({"norm_gain", {sites}, std::move(gains), {"site"}, "1"});
    result.arrays.push_back({"norm_gain_eps", {sites}, std::move(gains_eps), {"site"}, "1"});

    by_layer("projection", [](const LayerBounds& b) { return b.input.projection; });
    by_layer("theta_over_tau", [](const LayerBounds& b) { return b.input.theta_over_tau; });
    by_layer("input_norm", [](const LayerBounds& b) { return b.input.token_norm; });
    by_layer("stream_norm", [](const LayerBounds& b) { return b.stream.token_norm; });
    by_layer("proxy_input", [](const LayerBounds& b) { return b.input.proxy(); });
    by_layer("proxy_stream", [](const LayerBounds& b) { return b.stream.proxy(); });
    for (NamedArray& array : result.arrays)
        for (double& v : array.data)
            if (!std::isfinite(v)) v = kNaN;
    std::vector<int> searched;
    for (const int layer : plan.layers)
        if (input.selects_sublayer(2 * layer) || input.selects_sublayer(2 * layer + 1))
            searched.push_back(layer);
    result.labels["measured"] = {layers_text(searched, s.depth)};
    return result;
}
template ProbeResult probe_lipschitz<float>(ProbeInput<float>&);
template ProbeResult probe_lipschitz<double>(ProbeInput<double>&);

namespace {

/// The search, and the Gram matrices of all weights, twice those of attention.
double lipschitz_operations(const ProbeShape& s) {
    const SelectedParts& part = s.part;
    return (part.sublayers * 2 + part.layers) / 3 * plan_lipschitz(s).operations +
           part.touched * 3 * std::min(192, s.d_model) * s.parameters() +
           scalar_operations(part.touched * 2 * s.states());
}

}  // namespace

ProbeInfo lipschitz_probe() {
    const std::vector<Axis> layers{axis::layer}, sublayers{axis::sublayer}, sites{axis::site};
    constexpr unsigned nan = kMayBeNan;
    return {
        "lipschitz",
        "Lipschitz bounds",
        "bounds L_MHA, L_FFN and of a whole layer in the norm max over tokens of ‖x_i‖₂; S_ℓ = (θ/τ)·B²·G_ℓ",
        "[E] Theorems 5.1 to 5.3, Lemma A.1 and §6",
        ProbeNeeds::Tangents,
        ProbeCost::Expensive,
        lipschitz_operations,
        probe_lipschitz<float>,
        probe_lipschitz<double>,
        {{"attention_value", layers, "value pathway of the bound L_MHA", nan, "1", "attn"},
         {"attention_scores", layers, "attention pathway of it", nan, "1", "attn"},
         {"attention", layers, "L_MHA, both pathways", nan, "1", "attn"},
         {"attention_paper", layers, "L_MHA without the query bias", nan, "1", "attn"},
         {"attention_measured", layers, "largest gain of attention found by JVPs", nan, "1", "attn"},
         {"ffn", layers, "bound L_FFN", nan, "1", "ffn"},
         {"ffn_measured", layers, "largest gain of the FFN found by JVPs", nan, "1", "ffn"},
         {"sublayer", sublayers, "bound of a sub-layer, norms at the tokens' 1/σ_ε", nan},
         {"sublayer_eps", sublayers, "the same with 1/√ε", nan},
         {"sublayer_measured", sublayers, "largest gain of a sub-layer found by JVPs", nan},
         {"layer", layers, "bound of a layer, norms at the tokens' 1/σ_ε", nan},
         {"layer_eps", layers, "the same with 1/√ε", nan},
         {"layer_measured", layers, "largest gain of a layer found by JVPs", nan},
         {"norm_gain", sites, "‖γ‖∞·max over tokens of 1/σ_ε", nan},
         {"norm_gain_eps", sites, "‖γ‖∞/√ε", nan},
         {"projection", layers, "G = ‖W^O‖₂‖W^Q‖₂‖W^K‖₂‖W^V‖₂", nan, "1", "attn"},
         {"theta_over_tau", layers, "largest θ of a row ÷ τ", nan, "1", "attn"},
         {"input_norm", layers, "largest norm of a token that attention reads", nan, "1", "attn"},
         {"stream_norm", layers, "largest norm of a token before the layer", nan, "1", "attn"},
         {"proxy_input", layers, "(θ/τ)·input_norm²·G", nan, "1", "attn"},
         {"proxy_stream", layers, "(θ/τ)·stream_norm²·G", nan, "1", "attn"}},
        {{"sites", "names such as blocks.3.ffn.norm_post, final_norm, in forward order"},
         {"measured", "which layers the search visited"}},
        false};
}

}  // namespace normscope
