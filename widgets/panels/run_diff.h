// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <string>
#include <vector>

namespace normscope::widgets {

/// The differences between runs: for each recipe (JSON text) the short texts of the keys in which they
/// differ, e.g. {"scheme post", "Δt 0.2"}; a missing key reads "default". The best-known knobs come first.
/// Empty lists for fewer than two recipes. Throws InputError where a text is no JSON object.
std::vector<QStringList> runDifferences(const std::vector<std::string>& recipes);

}  // namespace normscope::widgets
