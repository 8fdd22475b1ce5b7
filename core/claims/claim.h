// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace normscope {

/// What the measurement of a statement of a paper gives.
enum class ClaimVerdict {
    Holds,          ///< as stated
    Corrected,      ///< not as stated, but with the correction that `detail` names
    Fails,          ///< `detail` names the counter-example
    NotApplicable,  ///< cannot be measured on this stack, or on any
    Toy,            ///< depends on the scale of training: numbers, never pass or fail
    Unknown,        ///< `detail` names what the measurement needs
};
/// "holds", "corrected", "fails", "not_applicable", "toy", "unknown".
const char* claim_verdict_word(ClaimVerdict verdict);

/// The numbers of a verdict. All are measured; NaN where a claim has no such number.
struct ClaimResult {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    ClaimVerdict verdict = ClaimVerdict::Unknown;
    double value = kNone;     ///< the quantity that the statement is about
    double bound = kNone;     ///< what the statement compares it with
    double residual = kNone;  ///< how far the worst sample is from the statement
    std::int64_t samples = 0;
    std::string detail;  ///< one sentence: the counter-example, the correction, or what is missing
};

class ClaimInput;

/// A statement of one of the five papers and its measurement; the verdict is a function of the numbers.
struct Claim {
    const char* id;         ///< "E03": the letter of the paper and a number; a public interface
    const char* number;     ///< in the paper: "Thm 4.2"
    const char* statement;  ///< in our words
    ClaimVerdict expected;  ///< for the preset pre-ln
    ClaimResult (*measure)(ClaimInput&);
    const char* knob = "";  ///< the recipe's key that changes the outcome; empty where none does
};

/// The paper of an id: 'E' Emadi, 'N' the null-space note, 'G' GPAS, 'B' Baek, 'K' Kan et al.
const char* claim_paper(const Claim& claim);

}  // namespace normscope
