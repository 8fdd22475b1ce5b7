// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/stack/norm_override.h"

#include <algorithm>
#include <utility>

namespace normscope::widgets {
namespace {

std::optional<bool>& normOf(RuleOverride& rule, NormPlace place) {
    return place == NormPlace::In ? rule.in : place == NormPlace::Out ? rule.out : rule.post;
}

RuleOverride& partOf(LayerOverride& layer, Sublayer kind) {
    return kind == Sublayer::Attention ? layer.attn : layer.ffn;
}

/// Changes the overrides of one sub-layer. The list is sorted and without empty entries, so that equal
/// overrides give equal recipes.
template <class Change>
void editOverride(StackSpec& spec, int layer, Sublayer kind, const Change& change) {
    auto& layers = spec.layers;
    const auto at =
        std::find_if(layers.begin(), layers.end(), [&](const auto& o) { return o.index >= layer; });
    const auto entry =
        at != layers.end() && at->index == layer ? at : layers.insert(at, LayerOverride{layer, {}, {}});
    change(partOf(*entry, kind));
    if (entry->attn.empty() && entry->ffn.empty()) layers.erase(entry);
}

constexpr Sublayer kSublayers[] = {Sublayer::Attention, Sublayer::FeedForward};
constexpr NormPlace kPlaces[] = {NormPlace::In, NormPlace::Out, NormPlace::Post};

}  // namespace

const char* normPlaceName(NormPlace place) {
    constexpr const char* names[] = {"in", "out", "post"};
    return names[static_cast<int>(place)];
}

bool hasNorm(const SublayerRule& rule, NormPlace place) {
    return (place == NormPlace::In ? rule.in : place == NormPlace::Out ? rule.out : rule.post).has_value();
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
        editOverride(spec, l, kind, [&](RuleOverride& rule) {
            normOf(rule, place) = on == by_scheme ? std::nullopt : std::optional(on);
        });
    }
    return spec;
}

RuleOverride overrideOf(const StackSpec& spec, int layer, Sublayer kind) {
    for (const LayerOverride& o : spec.layers)
        if (o.index == layer) return kind == Sublayer::Attention ? o.attn : o.ffn;
    return {};
}

StackSpec withFactors(StackSpec spec, int layer, Sublayer kind, std::optional<double> a,
                      std::optional<double> b) {
    editOverride(spec, layer, kind, [&](RuleOverride& rule) {
        rule.a = a;
        rule.b = b;
    });
    return spec;
}

StackSpec withoutOverrides(StackSpec spec, int layer) {
    std::erase_if(spec.layers, [&](const LayerOverride& o) { return layer < 0 || o.index == layer; });
    return spec;
}

StackSpec withLayerEverywhere(StackSpec spec, int layer) {
    const StackSpec given = spec;
    for (const Sublayer kind : kSublayers) {
        const SublayerRule rule = sublayer_rule(given, layer, kind);
        const RuleOverride manual = overrideOf(given, layer, kind);
        for (const NormPlace place : kPlaces)
            spec = withNorm(std::move(spec), layer, kind, place, hasNorm(rule, place), true);
        for (int l = 0; l < spec.depth; ++l) spec = withFactors(std::move(spec), l, kind, manual.a, manual.b);
    }
    return spec;
}

bool hasPlace(const StackSpec& spec, Sublayer kind, NormPlace place) {
    return !(spec.layout == Layout::Parallel && kind == Sublayer::Attention && place == NormPlace::Post);
}

bool hasShortcut(const StackSpec& spec, Sublayer kind) {
    return !(spec.layout == Layout::Parallel && kind == Sublayer::FeedForward);
}

}  // namespace normscope::widgets
