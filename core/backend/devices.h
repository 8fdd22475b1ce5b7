// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <string>
#include <vector>

namespace normscope {

/// The device that a word of `--backend` names: one row of a table each, and `auto`, the best one that is
/// there. Throws InputError, with the words that this machine has, for any other.
Device& device_named(const std::string& backend);

/// The devices of this machine, best first.
std::vector<Device*> devices();

}  // namespace normscope
