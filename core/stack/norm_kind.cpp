// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/norm_kind.h"

#include <array>
#include <cstddef>

namespace normscope {

namespace {

// In the order of the enum.
constexpr NormKindRow kNormKindRows[] = {
    {NormKind::LayerNorm, "layernorm", true, NormNulls::MeanAndInput},
    {NormKind::RmsNorm, "rmsnorm", false, NormNulls::Input},
};

constexpr auto kWords = [] {
    std::array<const char*, std::size(kNormKindRows)> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = kNormKindRows[i].word;
    return words;
}();

}  // namespace

const NormKindRow& norm_kind_row(NormKind kind) {
    return kNormKindRows[static_cast<std::size_t>(kind)];
}

std::span<const char* const> norm_kind_words() {
    return kWords;
}

}  // namespace normscope
