// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/place_words.h"

namespace normscope {

std::string layer_words(std::size_t sublayer) {
    std::string words = "layer ";
    words += std::to_string(sublayer / 2 + 1);
    words += sublayer % 2 == 0 ? ", attention" : ", feed-forward map";
    return words;
}

std::string state_words(std::size_t k) {
    return k == 0 ? "embedding" : layer_words(k - 1);
}

}  // namespace normscope
