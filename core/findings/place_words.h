// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace normscope {

/// "layer 3, attention", "layer 3, feed-forward map": sub-layer k, from 0.
std::string layer_words(std::size_t sublayer);

/// "embedding", or the sub-layer after which hidden state k is, counted as in `evaluate`.
std::string state_words(std::size_t k);

}  // namespace normscope
