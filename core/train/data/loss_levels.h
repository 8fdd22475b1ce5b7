// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// The losses of reference models on a source of text, nat; NaN where unknown.
struct LossLevels {
    double ln_vocab = 0;         ///< of the uniform distribution, ln V
    double unigram_entropy = 0;  ///< of the token frequencies alone
    double bigram_entropy = 0;   ///< of the best model that reads the token before, wherever it is
    double trigram_entropy = 0;  ///< of the best model that reads the two tokens before
    double entropy_rate = 0;     ///< the floor: of the best model of all preceding tokens
};

}  // namespace normscope
