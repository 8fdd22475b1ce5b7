// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// A graphics card by its data sheet; products are dense, with sums in float32.
struct Card {
    const char* id;    ///< "h100"
    const char* name;  ///< "NVIDIA H100 SXM"
    double bandwidth;  ///< of its memory, bytes/s
    double fp16, tf32,
        fp32;  ///< products of tensor cores in 16 bits and in TF32, arithmetic of float32: FLOP/s
};
/// The first one is the default.
std::span<const Card> cards();
/// InputError with the names that there are.
const Card& card_named(const std::string& id);

/// A kernel of a captured graph follows the one before it after no less than this, s: measured on an H200.
inline constexpr double kLaunchSeconds = 1.3e-6;

/// What limits a call on a card.
enum class Limit { Launch, Memory, Arithmetic };
const char* limit_word(Limit limit);

/// The calls of one name in a training step.
struct CountedOperation {
    std::string name;
    std::size_t calls = 0;
    double bytes = 0, flops = 0;
    double counted_seconds = 0;   ///< its time on the card
    Limit limit = Limit::Launch;  ///< of the largest part of it
};

/// What a training step asks of a CUDA device, and its time on a card by count: each call takes as long as
/// its launch, its bytes at the bandwidth of the card's memory or its operations at the card's peak,
/// whichever is longest. Every byte that a call reads or writes counts once. A step takes longer, but for
/// what its calls find in a cache.
struct StepCount {
    std::size_t calls = 0, gemms = 0;  ///< calls: kernels, GEMMs and copies
    double bytes = 0, flops = 0;
    double counted_seconds = 0;
    std::array<double, 3> seconds{};           ///< of counted_seconds, by Limit
    std::vector<CountedOperation> operations;  ///< the longest first
};

/// "100 calls a step, 51 of them GEMMs; 551 MB, 23.4 GFLOP"
std::string totals_text(const StepCount& count);
/// "0.178 ms by count, 5600 steps/s, 23 million tokens/s; limited by memory 72 %, launches 28
/// %, arithmetic 0 %": shares of that time, the largest first.
std::string time_text(const StepCount& count, const TrainSpec& train, const StackSpec& stack);

/// Counts a step of a completed recipe, no sample of a probe, without a card: on no device at all. Takes the
/// time and memory of drawing the weights. Any thread. InputError where they do not fit into the free memory,
/// and where the build has no such count (ThreadSanitizer).
StepCount count_step(const Recipe& recipe, const Card& card);

}  // namespace normscope
