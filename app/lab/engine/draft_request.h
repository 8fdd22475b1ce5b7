// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/run/draft.h"

#include <QMetaType>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

using DraftResultPtr = std::shared_ptr<const DraftResult>;

/// A request to the engine for drafts, one after the other.
struct DraftRequest {
    struct Item {
        std::size_t index;  ///< in RemedyTrials::remedies
        Recipe recipe;
    };
    std::uint64_t token = 0;  ///< of its replies; a newer request replaces an older one
    std::string backend;      ///< of the run that failed
    DraftControl control;     ///< its own first steps
    std::vector<Item> items;
};

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::DraftResultPtr)
