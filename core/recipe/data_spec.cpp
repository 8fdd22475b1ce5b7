// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/data_spec.h"

namespace normscope {

namespace {
constexpr const char* kSources[] = {"markov", "copy",    "induction", "text",
                                    "images", "cifar10", "tokens",    "external"};
}  // namespace

template <>
std::span<const char* const> words_of<DataSource>() {
    return kSources;
}

}  // namespace normscope
