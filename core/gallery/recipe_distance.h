// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"

#include <string>
#include <vector>

namespace normscope {

/// One setting in a paper's experiments and in an entry's runs.
struct RecipeDistance {
    std::string what;    ///< "learning rate"
    std::string theirs;  ///< as the paper states it; "not stated" where it does not
    std::string ours;    ///< of all runs: several values where they differ
    bool operator==(const RecipeDistance&) const = default;
};

/// How far an entry's recipe is from the paper's, setting by setting: a verdict is about the recipe that was
/// trained. Empty for a paper without experiments and for an entry of the user. Pure; any thread.
std::vector<RecipeDistance> recipe_distance(const GalleryEntry& entry);

}  // namespace normscope
