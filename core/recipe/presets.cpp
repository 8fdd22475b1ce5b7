// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/presets.h"

namespace normscope {

const Preset* find_preset(const std::string& name) {
    for (const Preset& preset : presets())
        if (name == preset.name) return &preset;
    return nullptr;
}

}  // namespace normscope
