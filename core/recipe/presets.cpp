// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/presets.h"

#include "core/recipe/size_presets.h"

namespace normscope {

const Preset* find_preset(const std::string& name) {
    for (const auto all : {presets(), size_presets()})
        for (const Preset& preset : all)
            if (name == preset.name) return &preset;
    return nullptr;
}

}  // namespace normscope
