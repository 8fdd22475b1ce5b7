// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/cadence.h"
#include "core/recipe/place_selection.h"
#include "core/recipe/recipe.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normscope {

/// The shape that operation counts and the probe batch of a completed recipe follow from.
ProbeShape probe_shape(const Recipe& recipe);

/// InputError names the entry whose probe is unknown, whose steps cannot be parsed or are combined with an
/// `every`, or whose `only` or `formats` cannot be parsed or is given to a probe without any.
void validate_probes(const Recipe& recipe);
/// InputError names the entry of which a pattern selects no place. The stack is completed.
void validate_selections(const Recipe& recipe);

/// The formats of the entries that choose some, by probe. Throws InputError for an unknown format, and for
/// formats of a probe that has none.
std::map<std::string, std::vector<std::string>> probe_formats(const Recipe& recipe);

/// The operation count of one sample of an entry, without shared passes.
double sample_operations(const ProbePlan& plan, const ProbeShape& shape);
/// The selections of the entries that have one, by probe.
std::map<std::string, PlaceSelection> probe_selections(const Recipe& recipe);

/// Writes the planned steps into the entries under auto, and none into those under every n. The recipe is
/// completed; its probes are checked (validate_probes).
void plan_probe_steps(Recipe& recipe);

/// The steps of every entry, in order, as given by the entries; an entry without steps is planned. Step 0,
/// whose samples define the shapes of a recording, and the last step are in every list.
std::vector<StepList> probe_steps(const Recipe& recipe);

/// "8 sequences", or "2 of 8 sequences, 64 of 256 tokens".
std::string sampled_text(const ProbeShape& shape);

}  // namespace normscope
