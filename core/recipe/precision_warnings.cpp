// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/precision_warnings.h"

#include "core/base/number_text.h"

namespace normscope {

std::vector<std::string> precision_warnings(const Recipe& recipe) {
    const StackSpec& s = recipe.stack;
    const bool norms =
        s.scheme != Scheme::None || has_final_norm(s) || s.embedding_norm || s.qk_norm != QkNorm::Off;
    if (recipe.train.precision != Precision::Fp16 || !norms) return {};
    constexpr double kLost = 0x1p-25;                       // half the smallest subnormal: rounds to 0
    constexpr double kOverflows = 1 / (65504.0 * 65504.0);  // 1/√ε is the largest number
    if (s.norm.eps > kLost) return {};
    std::string line = "norm.eps " + plain_number(s.norm.eps) +
                       " with precision fp16: in FP16 it is 0, and a row without variance then divides by 0";
    if (s.norm.eps > 0 && s.norm.eps < kOverflows) line += "; 1/√ε is above 65504 too";
    return {line + ". Here ε and the statistics of norms are FP32; elsewhere take 1e-5"};
}

}  // namespace normscope
