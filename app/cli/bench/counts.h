// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope::app {

struct CountOptions {
    std::string card, only, recipe;  ///< recipe: empty for the fixed shapes
    std::vector<std::string> settings;
    bool json = false;
};

/// Prints what a training step of each shape, or of one recipe, asks of a card (core/run/step_count.h): a
/// paragraph, or a line of JSON.
void print_counts(const CountOptions& options);

/// "h100, h200, …"
std::string card_ids();

}  // namespace normscope::app
