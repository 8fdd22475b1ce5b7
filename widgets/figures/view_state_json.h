// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"
#include "widgets/figures/view_state.h"

#include <QJsonArray>
#include <string>

namespace normscope::widgets {

/// A view state as JSON, an object per plot: [{"x": {"range": [0, 12], "scale": "log"}, "y": {}}, …]; in
/// sessions and figure specifications.
QJsonArray viewStateToJson(const PlotViewState& state);

/// The inverse. Throws InputError with the path of an invalid value, counted from `where`
/// ("view[0].x.range").
PlotViewState viewStateFromJson(const nlohmann::json& list, const std::string& where);

/// [low, high], low < high.
Range rangeFromJson(const nlohmann::json& value, const std::string& where);

}  // namespace normscope::widgets
