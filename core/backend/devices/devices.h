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

/// The word of that device, without opening it: of `auto` that of the best one. The same InputError.
std::string backend_word(const std::string& backend);

/// One device of this machine, or what is missing for one.
struct KnownDevice {
    std::string backend;  ///< the word
    std::string name;     ///< display name; empty where it is not available
    DeviceMemory memory;  ///< now; 0 where it is not available
    std::string missing;  ///< why it is not available, in one line; empty where it is
};

/// Every device of this build, best first. The cards are not opened.
std::vector<KnownDevice> known_devices();

/// The word and a line on each device that is there besides the CPU; for `cuda` a line on what is missing
/// where there is no card.
std::vector<std::pair<std::string, std::string>> other_devices();

/// How far the CUDA plug-in is tested: for `devices` and the window.
inline constexpr const char* kCudaPluginTested =
    "run on an H200 on 2026-11-27, else executed on the emulated grid";

}  // namespace normscope
