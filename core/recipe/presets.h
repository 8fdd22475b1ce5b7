// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

namespace normscope {

/// A recipe that comes with the program (resources/presets/NAME.json, compiled in).
struct Preset {
    const char* name;
    const char* json;
};

std::span<const Preset> presets();
/// resources/stories/NAME.json, compiled in; story.h reads them.
std::span<const Preset> stories();
/// resources/gallery/NAME.json, compiled in; core/gallery reads them.
std::span<const Preset> gallery_files();
/// resources/help/NAME.json, compiled in; widgets/figures/panels/panel_example.h reads them.
std::span<const Preset> help_files();

/// The two recipes of a new comparison: Pre-LN and Post-LN on a text that only attention can continue.
inline constexpr const char* kDefaultComparison[] = {"pre-ln-copy", "post-ln-copy"};

/// One of these or of size_presets(); nullptr if unknown.
const Preset* find_preset(const std::string& name);

}  // namespace normscope
