// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/axis_limits.h"

#include "widgets/figures/number_text.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <cmath>
#include <limits>

namespace normscope::widgets {

AxisLimits::AxisLimits(const Figure& figure, const PlotViewState& view, QWidget* parent)
    : QWidget(parent), view_(view) {
    available_ = !figure.plots.empty() && figure.plots.front().maps.empty();
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    if (!available_) {
        grid->addWidget(new QLabel(tr("A map has none"), this), 0, 0);
        setEnabled(false);
        return;
    }
    const Figure shown = applyViewState(figure, view);
    const Plot& plot = shown.plots.front();
    sharing_x_ = plotsSharingX(shown, 0);
    const Range x = plot.x.range ? *plot.x.range : xRange(plot);
    axes_ = {Axis{tr("x"), plot.x.scale, x},
             Axis{tr("y"), plot.y.scale, plot.y.range ? *plot.y.range : yRange(plot, plot.x.range)}};
    for (int row = 0; row < 2; ++row) {
        Axis& axis = axes_.at(static_cast<std::size_t>(row));
        const auto field = [&](const char* name, double now, const QString& what) {
            auto* made = new QLineEdit(this);
            made->setObjectName(QLatin1String(name));
            made->setPlaceholderText(numberText(now, 3));
            made->setAccessibleName(what);
            made->setMaximumWidth(90);
            connect(made, &QLineEdit::textChanged, this, &AxisLimits::changed);
            return made;
        };
        axis.from =
            field(row == 0 ? "limitXFrom" : "limitYFrom", axis.now.first, tr("%1 from").arg(axis.name));
        axis.to = field(row == 0 ? "limitXTo" : "limitYTo", axis.now.second, tr("%1 to").arg(axis.name));
        grid->addWidget(new QLabel(axis.name, this), row, 0);
        grid->addWidget(axis.from, row, 1);
        grid->addWidget(new QLabel(tr("to"), this), row, 2);
        grid->addWidget(axis.to, row, 3);
    }
}

std::optional<Range> AxisLimits::rangeOf(const Axis& axis) {
    if (axis.from->text().trimmed().isEmpty() && axis.to->text().trimmed().isEmpty()) return {};
    const auto value = [](const QLineEdit* field, double now) {
        const QString text = field->text().trimmed();
        if (text.isEmpty()) return now;
        bool ok = false;
        const double typed = QLocale::c().toDouble(text, &ok);
        return ok ? typed : std::numeric_limits<double>::quiet_NaN();
    };
    return Range{value(axis.from, axis.now.first), value(axis.to, axis.now.second)};
}

QString AxisLimits::problem() const {
    if (!available_) return {};
    for (const Axis& axis : axes_) {
        const std::optional<Range> range = rangeOf(axis);
        if (!range || isUsable(*range, axis.scale)) continue;
        if (std::isnan(range->first) || std::isnan(range->second))
            return tr("Limits of %1: not a number; allowed: 0.5, 1e-3, or nothing").arg(axis.name);
        return axis.scale == Scale::Log && range->first <= 0
                   ? tr("Limits of %1: a log axis begins above 0").arg(axis.name)
                   : tr("Limits of %1: the first must be below the second").arg(axis.name);
    }
    return {};
}

PlotViewState AxisLimits::applied() const {
    PlotViewState view = view_;
    if (!available_ || !problem().isEmpty()) return view;
    const auto at = [&](std::size_t plot) -> PlotAxesView& {
        if (view.plots.size() <= plot) view.plots.resize(plot + 1);
        return view.plots[plot];
    };
    if (const auto x = rangeOf(axes_[0]))
        for (const std::size_t plot : sharing_x_) at(plot).x.range = x;
    if (const auto y = rangeOf(axes_[1])) at(0).y.range = y;
    return view;
}

}  // namespace normscope::widgets
