// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/low_precision.h"
#include "core/base/error.h"

#include <string>

// Header only: the program and the CUDA plug-in both use it.

namespace normscope {

/// How a device computes in a precision. Emulated: in float32, rounded (low_precision.h).
enum class Arithmetic { Missing, Emulated, Native };

/// Of a device; float32 is native on each.
struct Formats {
    Arithmetic fp64 = Arithmetic::Missing, tf32 = Arithmetic::Missing, bf16 = Arithmetic::Missing,
               fp16 = Arithmetic::Missing;
};

inline constexpr Formats kEmulatedFormats{Arithmetic::Native, Arithmetic::Emulated, Arithmetic::Emulated,
                                          Arithmetic::Emulated};

/// Of an NVIDIA card of this compute capability: tensor cores multiply TF32 and BF16 from 8.0 on (CUDA C++
/// Programming Guide, "Compute Capabilities").
constexpr Formats card_formats(int major) {
    const Arithmetic from_8 = major >= 8 ? Arithmetic::Native : Arithmetic::Missing;
    return {Arithmetic::Native, from_8, from_8, Arithmetic::Native};
}

/// The words of the formats with this arithmetic, separated by commas: "fp32, fp64".
inline std::string words_of(const Formats& formats, Arithmetic arithmetic) {
    std::string words = arithmetic == Arithmetic::Native ? "fp32" : "";
    const auto add = [&](const char* word, Arithmetic of) {
        if (of == arithmetic) words += (words.empty() ? "" : ", ") + std::string(word);
    };
    add("fp64", formats.fp64);
    add("tf32", formats.tf32);
    add("bf16", formats.bf16);
    add("fp16", formats.fp16);
    return words;
}

/// "precision fp32, fp64; tf32, bf16, fp16 emulated".
inline std::string precision_line(const Formats& formats) {
    const std::string emulated = words_of(formats, Arithmetic::Emulated),
                      missing = words_of(formats, Arithmetic::Missing);
    return "precision " + words_of(formats, Arithmetic::Native) +
           (emulated.empty() ? "" : "; " + emulated + " emulated") +
           (missing.empty() ? "" : "; not " + missing);
}

// InputError for a format that the device lacks; `device` is its name in the message.

inline void require_arithmetic(const Formats& formats, const char* word, Arithmetic of,
                               const std::string& device) {
    if (of != Arithmetic::Missing) return;
    const std::string emulated = words_of(formats, Arithmetic::Emulated);
    throw InputError("precision", std::string(word) + " is not available on " + device,
                     words_of(formats, Arithmetic::Native) + (emulated.empty() ? "" : ", " + emulated));
}
inline void require_format(const Formats& formats, Rounding rounding, const std::string& device) {
    const auto require = [&](const char* word, Arithmetic of) {
        require_arithmetic(formats, word, of, device);
    };
    switch (rounding) {
        case Rounding::None:
            break;
        case Rounding::Bf16:
            return require("bf16", formats.bf16);
        case Rounding::Fp16:
            return require("fp16", formats.fp16);
        case Rounding::Tf32:
            return require("tf32", formats.tf32);
    }
}
inline void require_precision(const Formats& formats, Precision precision, const std::string& device) {
    if (precision == Precision::Fp64) return require_arithmetic(formats, "fp64", formats.fp64, device);
    require_format(formats, rounding_of(precision), device);
}

}  // namespace normscope
