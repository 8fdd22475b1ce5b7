// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace normscope {

/// Where a pass first had a value that is not finite. It is stored as the text of the outcome alone, so that
/// recordings have no field for it and those of earlier versions are read too.
struct BadPlace {
    std::int64_t step = 0;
    int layer = -1;         ///< from 0; -1 outside the layers
    std::string operation;  ///< "ffn.w2", "attn.scores", "attn.residual_add", "gradient of attn.wo", "head"
    std::int64_t row = -1;  ///< of the training batch: sequence · length + token, from 0; -1 if not known
    std::string detail;  ///< what else is known of the place: "head 1, key 3", "1/sigma = inf"; may be empty
    /// The value before it was rounded, computed again in float64; NaN where it is not known.
    double value = std::numeric_limits<double>::quiet_NaN();
    double limit = std::numeric_limits<double>::quiet_NaN();  ///< the largest finite value of the format
    /// Of a gradient that overflows even at the lowest loss scale, that scale; else NaN.
    double loss_scale = std::numeric_limits<double>::quiet_NaN();
    std::string result;  ///< "inf", "-inf", "nan"
};

/// "step 212 · layer 7 ffn.residual_add · row 5: 70130 > 65504 · inf" (layers from 1, as on screen); the row,
/// the detail and the value only where they are known. A negative value is compared as "|-70130| > 65504".
/// Before the result "· at the lowest loss scale 6.1035e-05" where there is one.
std::string bad_place_text(const BadPlace&);

/// The inverse; nullopt for any other text. Reads "step 212 · layer 7 ffn.w2 · inf" of earlier versions.
std::optional<BadPlace> read_bad_place(const std::string& text);

}  // namespace normscope
