// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// The device that a word of `--backend` names: one row of a table each (`cuda` is the first card, `cuda:1`
/// the second), and `auto`, the best one that is there. Throws InputError, with the words that this machine
/// has, for any other; SystemError where a card is there but cannot be opened.
Device& device_named(const std::string& backend);

/// The word and a line on each device that is there besides the CPU; for `cuda` a line on what is missing
/// where there is no card.
std::vector<std::pair<std::string, std::string>> other_devices();

}  // namespace normscope
