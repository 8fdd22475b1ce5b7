// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QStringList>
#include <optional>
#include <string>
#include <vector>

namespace normscope::widgets {

/// The differences between runs: for each recipe the short texts of the keys in which they differ,
/// e.g. {"scheme post", "Δt 0.2"}; a missing override or probe reads "default". The best-known
/// knobs come first. Empty lists for fewer than two recipes.
std::vector<QStringList> runDifferences(const std::vector<Recipe>& recipes);

/// A key in which recipes differ, with its value in each of them as text.
struct VariedKey {
    std::string key;  ///< "optimizer.lr"; a layer override by its layer, a probe by its id
    QString name;     ///< "lr"
    QStringList values;
};

/// The keys in which recipes differ, the best-known knobs first; planned steps of probes are ignored.
std::vector<VariedKey> variedKeys(const std::vector<Recipe>& recipes);

/// The names of runs, those of several runs followed by the values of the fewest keys that distinguish them:
/// "Pre-LN, seed 43".
std::vector<QString> distinctNames(const std::vector<const RunData*>& runs);

/// The short name of a key: "lr", "Δt", or its words.
QString nameOfKey(const std::string& key);

/// The value of a key as text, nullopt where the recipe has none.
std::optional<QString> keyValueText(const Recipe& recipe, const std::string& key);

}  // namespace normscope::widgets
