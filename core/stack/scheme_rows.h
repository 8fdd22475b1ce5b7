// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

namespace normscope {

// A scheme of existing norms is added in this file alone: a name in the enum and a row of the same place.

enum class Scheme { None, Post, Pre, Peri, Sandwich, DeepNorm, Mix, Lns, Output, Custom };

/// Which norms a sub-layer has. v: on the values, inside attention (not computed yet).
struct NormPlaces {
    bool in, out, post, v = false;
};

/// The source of the shortcut: the stream x, or x₀, the embedding (not computed yet).
enum class ResidualSource { Stream, Embedding };

/// A scheme is a row of data: which norms are placed, and what a and s_in are in the one form of a sub-layer
/// (scheme.h).
struct SchemeRow {
    Scheme scheme;
    const char* word;   ///< in recipes
    const char* title;  ///< "Pre-LN"
    NormPlaces attn, ffn;
    enum class Shortcut { One, DeepNorm } shortcut;        ///< a = 1, or (2N)^{1/4} ([E] §6 after DeepNet)
    enum class InputScale { One, InverseSqrtLayer } s_in;  ///< 1, or 1/√ℓ (LNS, [G] eq. 3)
    const char* source;
    bool final_norm = true;  ///< has one after the last layer of a GPT-2 block where final_norm is auto
    ResidualSource residual = ResidualSource::Stream;
};

namespace scheme_rows {

inline constexpr NormPlaces kNone{false, false, false}, kIn{true, false, false}, kOut{false, true, false},
    kInOut{true, true, false}, kPost{false, false, true};
inline constexpr auto kOne = SchemeRow::Shortcut::One, kDeep = SchemeRow::Shortcut::DeepNorm;
inline constexpr auto kPlain = SchemeRow::InputScale::One, kByLayer = SchemeRow::InputScale::InverseSqrtLayer;

// In the order of the enum.
inline constexpr SchemeRow kAll[] = {
    {Scheme::None, "none", "No norm", kNone, kNone, kOne, kPlain, "[K] Table 1"},
    {Scheme::Post, "post", "Post-LN", kPost, kPost, kOne, kPlain, "[G] eq. 5", false},
    {Scheme::Pre, "pre", "Pre-LN", kIn, kIn, kOne, kPlain, "[G] eq. 1, [K] eq. 7"},
    {Scheme::Peri, "peri", "Peri-LN", kInOut, kInOut, kOne, kPlain, "[K] eq. 8"},
    {Scheme::Sandwich, "sandwich", "Sandwich-LN", kInOut, kInOut, kOne, kPlain, "[G] eq. 4"},
    {Scheme::DeepNorm, "deepnorm", "DeepNorm", kPost, kPost, kDeep, kPlain, "[G] eq. 6", false},
    {Scheme::Mix, "mix", "Mix-LN", kIn, kIn, kOne, kPlain, "[G] §2"},
    {Scheme::Lns, "lns", "LNS", kIn, kIn, kOne, kByLayer, "[G] eq. 3"},
    {Scheme::Output, "output", "Output-LN", kOut, kOut, kOne, kPlain, "OLMo 2"},
    {Scheme::Custom, "custom", "Custom", kNone, kNone, kOne, kPlain, "by hand"},
};

inline constexpr auto kWords = [] {
    std::array<const char*, std::size(kAll)> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = kAll[i].word;
    return words;
}();

static_assert(
    [] {
        for (std::size_t i = 0; i < std::size(kAll); ++i)
            if (static_cast<std::size_t>(kAll[i].scheme) != i) return false;
        return true;
    }(),
    "the rows are in the order of the enum");

}  // namespace scheme_rows

inline const SchemeRow& scheme_row(Scheme scheme) {
    return scheme_rows::kAll[static_cast<std::size_t>(scheme)];
}

}  // namespace normscope
