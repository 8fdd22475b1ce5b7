// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/run/corpora.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// Fills missing and "auto" values (vocab from the source, d_ff, the probe list and its steps) and checks the
/// whole. Returns the corpus of the recipe, needed for its vocabulary, for use by an Experiment. Taken from
/// `corpora` if in use there.
std::shared_ptr<const Corpus> complete_and_validate(Recipe& recipe, Corpora* corpora = nullptr);

/// The part of it that reads no data: sizes, probes and ranges. Values that depend on the data are unchanged
/// (vocab, the planned steps). For a thread that must not wait for a file.
void complete_without_data(Recipe& recipe);

/// A recipe's file, or a preset's name, with settings, completed and validated.
Recipe load_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

}  // namespace normscope
