// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/recipe/recipe.h"
#include "core/run/corpora.h"

namespace normscope {

/// Fills what was left out or "auto" (vocab from the source, d_ff, the probe list and its steps) and checks the whole.
/// Gives the text that the recipe learns, which was made to know its vocabulary: an Experiment takes it as it is. From
/// `corpora`, where the same text may be in use already.
std::shared_ptr<const Corpus> complete_and_validate(Recipe& recipe, Corpora* corpora = nullptr);

/// The part of it that reads no data: sizes, probes and ranges. What only the data can tell stays as it is (vocab,
/// the planned steps). For a thread that must not wait for a file.
void complete_without_data(Recipe& recipe);

/// A recipe's file, or a preset's name, with settings, completed and validated.
Recipe load_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

}  // namespace normscope
