// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/view_state_json.h"

#include "core/base/error.h"

#include <QJsonObject>

namespace normscope::widgets {

using nlohmann::json;

namespace {

QJsonObject toJson(const AxisView& axis) {
    QJsonObject object;
    if (axis.range) object[QStringLiteral("range")] = QJsonArray{axis.range->first, axis.range->second};
    if (axis.scale)
        object[QStringLiteral("scale")] =
            *axis.scale == Scale::Log ? QStringLiteral("log") : QStringLiteral("linear");
    return object;
}

AxisView axisFrom(const json& value, const std::string& where) {
    if (!value.is_object())
        throw InputError(where, "not an object", "{\"range\": [low, high], \"scale\": \"linear\"|\"log\"}");
    AxisView axis;
    for (const auto& entry : value.items()) {
        const std::string place = where + "." + printable(entry.key());
        if (entry.key() == "range") {
            axis.range = rangeFromJson(entry.value(), place);
        } else if (entry.key() == "scale") {
            if (entry.value() == "log")
                axis.scale = Scale::Log;
            else if (entry.value() == "linear")
                axis.scale = Scale::Linear;
            else
                throw InputError(place, "unknown scale", "linear, log");
        } else {
            throw InputError(place, "unknown key", "range, scale");
        }
    }
    return axis;
}

}  // namespace

QJsonArray viewStateToJson(const PlotViewState& state) {
    QJsonArray list;
    for (const auto& plot : state.plots) {
        list.append(
            QJsonObject{{QStringLiteral("x"), toJson(plot.x)}, {QStringLiteral("y"), toJson(plot.y)}});
    }
    return list;
}

Range rangeFromJson(const json& value, const std::string& where) {
    if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number())
        throw InputError(where, "not a range", "[low, high]");
    const Range range{value[0].get<double>(), value[1].get<double>()};
    if (!isUsable(range, Scale::Linear)) throw InputError(where, "empty range", "low < high");
    return range;
}

PlotViewState viewStateFromJson(const json& list, const std::string& where) {
    PlotViewState state;
    for (const json& plot : list) {
        const std::string place = where + "[" + std::to_string(state.plots.size()) + "]";
        if (!plot.is_object()) throw InputError(place, "not an object", "{\"x\": {…}, \"y\": {…}}");
        PlotAxesView axes;
        for (const auto& entry : plot.items()) {
            const std::string axis = place + "." + printable(entry.key());
            if (entry.key() == "x")
                axes.x = axisFrom(entry.value(), axis);
            else if (entry.key() == "y")
                axes.y = axisFrom(entry.value(), axis);
            else
                throw InputError(axis, "unknown key", "x, y");
        }
        state.plots.push_back(axes);
    }
    return state;
}

}  // namespace normscope::widgets
