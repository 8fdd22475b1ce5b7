// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/norm_override.h"

#include <algorithm>

namespace normscope::widgets {
namespace {

std::optional<bool>& normOf(RuleOverride& rule, NormPlace place) {
    return place == NormPlace::In ? rule.in : place == NormPlace::Out ? rule.out : rule.post;
}

void setNorm(StackSpec& spec, int layer, Sublayer kind, NormPlace place, std::optional<bool> value) {
    auto& layers = spec.layers;
    auto it = std::find_if(layers.begin(), layers.end(), [&](const auto& o) { return o.index == layer; });
    if (it == layers.end()) {
        if (!value) return;
        // Kept in order, so that the same switches give the same recipe.
        it = std::find_if(layers.begin(), layers.end(), [&](const auto& o) { return o.index > layer; });
        it = layers.insert(it, {layer, {}, {}});
    }
    normOf(kind == Sublayer::Attention ? it->attn : it->ffn, place) = value;
    if (it->attn.empty() && it->ffn.empty()) layers.erase(it);
}

}  // namespace

const char* normPlaceName(NormPlace place) {
    constexpr const char* names[] = {"in", "out", "post"};
    return names[static_cast<int>(place)];
}

bool hasNorm(const SublayerRule& rule, NormPlace place) {
    return place == NormPlace::In ? rule.in : place == NormPlace::Out ? rule.out : rule.post;
}

SublayerRule schemeRule(const StackSpec& spec, int layer, Sublayer kind) {
    StackSpec bare = spec;
    bare.layers.clear();
    return sublayer_rule(bare, layer, kind);
}

StackSpec withNorm(StackSpec spec, int layer, Sublayer kind, NormPlace place, bool on, bool all_layers) {
    StackSpec bare = spec;
    bare.layers.clear();
    const int first = all_layers ? 0 : layer;
    const int last = all_layers ? spec.depth - 1 : layer;
    for (int l = first; l <= last; ++l) {
        const bool by_scheme = hasNorm(sublayer_rule(bare, l, kind), place);
        setNorm(spec, l, kind, place, on == by_scheme ? std::nullopt : std::optional(on));
    }
    return spec;
}

}  // namespace normscope::widgets
