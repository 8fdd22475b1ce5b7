// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/view_state_json.h"

#include "core/base/error.h"

#include <QJsonObject>

namespace normscope::widgets {
namespace {

[[noreturn]] void reject(const QString& where, const char* what, const char* allowed) {
    throw InputError(where.toStdString(), what, allowed);
}

QJsonObject toJson(const AxisView& axis) {
    QJsonObject json;
    if (axis.range) json[QStringLiteral("range")] = QJsonArray{axis.range->first, axis.range->second};
    if (axis.scale)
        json[QStringLiteral("scale")] =
            *axis.scale == Scale::Log ? QStringLiteral("log") : QStringLiteral("linear");
    return json;
}

AxisView axisFrom(const QJsonValue& value, const QString& where) {
    if (!value.isObject())
        reject(where, "not an object", "{\"range\": [low, high], \"scale\": \"linear\"|\"log\"}");
    AxisView axis;
    const QJsonObject json = value.toObject();
    for (auto it = json.begin(); it != json.end(); ++it) {
        const QString place = where + u'.' + it.key();
        if (it.key() == QLatin1String("range")) {
            const QJsonArray ends = it->toArray();
            if (ends.size() != 2 || !ends[0].isDouble() || !ends[1].isDouble())
                reject(place, "not a range", "[low, high]");
            axis.range = Range{ends[0].toDouble(), ends[1].toDouble()};
            if (!isUsable(*axis.range, Scale::Linear)) reject(place, "empty range", "low < high");
        } else if (it.key() == QLatin1String("scale")) {
            if (*it == QJsonValue(QStringLiteral("log")))
                axis.scale = Scale::Log;
            else if (*it == QJsonValue(QStringLiteral("linear")))
                axis.scale = Scale::Linear;
            else
                reject(place, "unknown scale", "linear, log");
        } else {
            reject(place, "unknown key", "range, scale");
        }
    }
    return axis;
}

}  // namespace

QJsonArray viewStateToJson(const PlotViewState& state) {
    QJsonArray json;
    for (const auto& plot : state.plots) {
        json.append(
            QJsonObject{{QStringLiteral("x"), toJson(plot.x)}, {QStringLiteral("y"), toJson(plot.y)}});
    }
    return json;
}

PlotViewState viewStateFromJson(const QJsonArray& json, const QString& where) {
    PlotViewState state;
    for (const auto& value : json) {
        const QString place = QStringLiteral("%1[%2]").arg(where).arg(state.plots.size());
        if (!value.isObject()) reject(place, "not an object", "{\"x\": {…}, \"y\": {…}}");
        PlotAxesView axes;
        const QJsonObject plot = value.toObject();
        for (auto it = plot.begin(); it != plot.end(); ++it) {
            const QString axis = place + u'.' + it.key();
            if (it.key() == QLatin1String("x"))
                axes.x = axisFrom(*it, axis);
            else if (it.key() == QLatin1String("y"))
                axes.y = axisFrom(*it, axis);
            else
                reject(axis, "unknown key", "x, y");
        }
        state.plots.push_back(axes);
    }
    return state;
}

}  // namespace normscope::widgets
