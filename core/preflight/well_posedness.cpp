// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/rows.h"

#include <algorithm>

namespace normscope {

using namespace preflight_rows;

namespace {

/// The sub-layers of a stack by what bounds their result.
struct BranchCounts {
    int all = 0;
    int normed_again = 0;  ///< the sum passes a norm: of one size whatever the branch gives
    int output = 0;        ///< of the others: the branch ends in a norm
    int input = 0;         ///< the branch reads a normed input, and the weights bound it
    int bare = 0;          ///< no norm bounds the branch
    std::string first_bare;
    double shortcut = 0;  ///< the largest |a| of a sum that is not normed again
};

SublayerRule rule_at(const StackSpec& stack, int k) {
    return sublayer_rule(stack, k / 2, k % 2 == 0 ? Sublayer::Attention : Sublayer::FeedForward);
}

/// Whether the sum of sub-layer k, from 0, is normed again; the two of a parallel layer share one sum.
bool normed_again(const StackSpec& stack, int k) {
    return rule_at(stack, stack.layout == Layout::Parallel ? k | 1 : k).post.has_value();
}

/// Whether the state that sub-layer k reads comes out of a norm.
bool reads_normed_state(const StackSpec& stack, int k) {
    const int first = stack.layout == Layout::Parallel ? k & ~1 : k;
    return first == 0 ? embedding_norm_of(stack).has_value() : normed_again(stack, first - 1);
}

BranchCounts counts_of(const StackSpec& stack) {
    BranchCounts counts;
    counts.all = 2 * stack.depth;
    for (int k = 0; k < counts.all; ++k) {
        const SublayerRule rule = rule_at(stack, k);
        if (normed_again(stack, k)) {
            ++counts.normed_again;
            continue;
        }
        counts.shortcut = std::max(counts.shortcut, std::abs(rule.a));
        if (rule.out) {
            ++counts.output;
        } else if (rule.in || reads_normed_state(stack, k)) {
            ++counts.input;
        } else if (counts.bare++ == 0) {
            counts.first_bare = sublayer_text(static_cast<std::size_t>(k));
        }
    }
    return counts;
}

PreflightRow counted(const char* name, int count, const BranchCounts& of, const char* sentence) {
    PreflightRow row;
    row.name = name;
    row.value = count;
    row.unit = "of " + std::to_string(of.all);
    if (count > 0) row.sentence = sentence;
    return row;
}

PreflightRow well_posedness_row(const BranchCounts& counts) {
    PreflightRow row;
    row.name = "class of the state's size";
    if (counts.bare > 0) {
        row.word = "not bounded by the rule";
        row.validity = "broken from " + counts.first_bare + " on: no norm bounds that branch";
        row.sentence =
            "A branch without a norm grows with the state, so that one factor per such sub-layer can "
            "multiply.";
    } else if (counts.shortcut > 1) {
        row.word = "geometric at most";
        row.validity = "for fixed γ, β and weights";
        row.sentence = "The shortcut's factor is above 1 in a sum that is not normed again.";
    } else if (counts.normed_again == counts.all) {
        row.word = "bounded at any depth";
        row.validity = "for any weights, with fixed γ and β";
        row.sentence = "Every sum is normed again: a token's RMS is at most ‖γ‖∞ and the size of β.";
    } else if (counts.input > 0) {
        row.word = "linear at most, by the weights";
        row.validity = "for fixed γ, β and weights; no bound holds for all weights";
        row.sentence = "Every branch reads or ends in a norm, and weights after a norm scale what it gives.";
    } else {
        row.word = "linear at most, for any weights";
        row.validity = "for any weights, with fixed γ and β";
        row.sentence = "Every branch ends in a norm, which fixes its size, or its sum is normed again.";
    }
    return row;
}

PreflightRow epsilon_row(const StackSpec& stack) {
    PreflightRow row;
    row.name = "ε of the norms";
    row.value = stack.norm.eps;
    if (stack.norm.eps > 0) {
        row.validity = "ε > 0";
        row.sentence = "Every norm and its Jacobian are finite at every token, a constant one included.";
    } else {
        row.validity = "broken: ε = 0";
        row.sentence = "A norm is not defined at a token without variance.";
    }
    return row;
}

}  // namespace

PreflightSection well_posedness(const Recipe& recipe) {
    const BranchCounts counts = counts_of(recipe.stack);
    PreflightSection section{"well_posedness", "Well-posedness: what the scheme's rule bounds", {}};
    section.rows.push_back(well_posedness_row(counts));
    section.rows.push_back(counted("sums that are normed again", counts.normed_again, counts,
                                   "Their result has the size of the norm's γ and β."));
    section.rows.push_back(
        counted("branches that end in a norm", counts.output, counts,
                "Such a branch has the size of γ and β whatever its input and weights are."));
    section.rows.push_back(counted("branches that only read a normed input", counts.input, counts,
                                   "The size of such a branch is bounded by its weights, not by its input."));
    section.rows.push_back(counted("branches without a norm", counts.bare, counts,
                                   "No bound of their size follows from the rule."));
    if (counts.normed_again < counts.all) {
        PreflightRow shortcut;
        shortcut.name = "largest factor |a| of a shortcut";
        shortcut.value = counts.shortcut;
        shortcut.theory = Theory::Threshold;
        shortcut.bound = 1;
        shortcut.validity = counts.shortcut <= 1 ? "linear growth needs |a| at most 1"
                                                 : "broken: the shortcut itself multiplies the state";
        if (recipe.stack.gpas.enabled)
            shortcut.sentence =
                "A gate multiplies it by |1 − act(α)|, which is 1 at step 0 where act(0) = 0.";
        section.rows.push_back(std::move(shortcut));
    }
    section.rows.push_back(epsilon_row(recipe.stack));
    PreflightRow optimum;
    optimum.name = "existence of an optimum (HJB)";
    optimum.word = "no number decides it";
    optimum.validity = "[K] Thms 2 and 4 are about all controls in the limit of many layers";
    optimum.sentence = "No measurement of one stack can show it or refute it, so no verdict is given.";
    section.rows.push_back(std::move(optimum));
    return section;
}

}  // namespace normscope
