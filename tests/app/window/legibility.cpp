// SPDX-License-Identifier: GPL-3.0-or-later
#include "legibility.h"

#include "app/window/main_window.h"
#include "widgets/plots/collisions.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/plots/plot_view.h"
#include "widgets/runs/run_chip.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>

namespace normscope::test {

using namespace widgets;

namespace {

constexpr double kMinContrast = 4.5, kMinShare = 0.65;

int labelled(const std::vector<TickShape>& ticks) {
    return static_cast<int>(std::count_if(ticks.begin(), ticks.end(),
                                          [](const TickShape& tick) { return !tick.label_rect.isNull(); }));
}

bool hasData(const Plot& plot) {
    return std::any_of(plot.curves.begin(), plot.curves.end(), [](const Curve& c) { return !c.y.empty(); }) ||
           !plot.references.empty() || !plot.maps.empty() || !plot.bands.empty();
}

void checkTexts(const PlotView& view, QStringList& faults) {
    const FigureLayout& layout = view.figureLayout();
    const Theme theme = themeOf(view.palette());
    RenderStyle style = screenStyle(theme);
    for (const Collision& found : collisionsIn(layout, style)) {
        faults << collisionTexts({found}).join(QString());
    }
    const auto check = [&](const TextShape& text) {
        const QColor below = text.background.isValid() ? text.background : theme.background;
        if (!text.text.isEmpty() && contrast(text.colour, below) < kMinContrast)
            faults << QStringLiteral("'%1' has a contrast of %2")
                          .arg(text.text)
                          .arg(contrast(text.colour, below));
    };
    for (const TextShape& text : layout.texts) check(text);
    for (const PlotLayout& plot : layout.plots)
        if (plot.cells.empty())
            for (const TextShape& text : plot.texts) check(text);
}

void checkAxes(const PlotView& view, QStringList& faults) {
    const Figure& figure = view.shownFigure();
    const FigureLayout& layout = view.figureLayout();
    if (figure.plots.empty() || layout.plots.empty()) {
        if (figure.empty_text.isEmpty()) faults << QStringLiteral("neither data nor a sentence");
        return;
    }
    QRectF all;
    for (std::size_t i = 0; i < layout.plots.size(); ++i) {
        const PlotLayout& plot = layout.plots[i];
        all |= plot.area;
        if (!hasData(figure.plots[i]) && figure.empty_text.isEmpty())
            faults << QStringLiteral("plot %1 has neither data nor a sentence").arg(i + 1);
        // Strips and small multiples have less space; maps have a label a row.
        if (!plot.cells.empty()) continue;
        // Small multiples share the labels of their first column and of their last row.
        const bool grid = figure.side_by_side && figure.shared_axes;
        const bool first_column = !grid || plot.area.left() <= layout.plots.front().area.left();
        const int y = labelled(plot.y_ticks), x = labelled(plot.x_ticks);
        const bool low = plot.area.height() < view.height() / 3.0;  // a strip: decades have few labels
        if (first_column && (y < (low ? 2 : 4) || y > 8))
            faults << QStringLiteral("the y axis has %1 labels").arg(y);
        const bool few = figure.plots[i].x.integers && plot.x.high - plot.x.low < 5;
        const bool last = i + 1 == layout.plots.size();
        if (last && !few && (x < 4 || x > 8)) faults << QStringLiteral("the x axis has %1 labels").arg(x);
    }
    const double share = all.width() * all.height() / (double(view.width()) * view.height());
    if (share < kMinShare)
        faults << QStringLiteral("the plot fills %1 % of its panel (%2 x %3 of %4 x %5)")
                      .arg(qRound(100 * share))
                      .arg(all.width())
                      .arg(all.height())
                      .arg(view.width())
                      .arg(view.height());
}

bool isShown(const QWidget* widget) {
    return widget->isVisible() && !widget->visibleRegion().isEmpty();
}

void checkWidgets(const app::MainWindow& window, QStringList& faults) {
    const auto narrow = [&](const QWidget* widget, const QString& text, int needed, int given) {
        if (needed > given)
            faults << QStringLiteral("%1 '%2' needs %3 px and has %4")
                          .arg(QLatin1String(widget->metaObject()->className()), text)
                          .arg(needed)
                          .arg(given);
    };
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (!isShown(label) || label->wordWrap() || label->text().size() < 2) continue;
        if (label->textFormat() == Qt::RichText) continue;
        for (const QString& line : label->text().split(u'\n'))
            narrow(label, line, label->fontMetrics().horizontalAdvance(line),
                   label->contentsRect().width() + 1);
        if (label->text().contains(u'…')) faults << QStringLiteral("elided: '%1'").arg(label->text());
    }
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
        if (!isShown(button) || button->text().isEmpty()) continue;
        narrow(button, button->text(), button->fontMetrics().horizontalAdvance(button->text()),
               button->width());
    }
    for (const RunChip* chip : window.findChildren<RunChip*>())
        if (isShown(chip)) narrow(chip, chip->run().name, chip->minimumSizeHint().width(), chip->width());
    for (const QComboBox* box : window.findChildren<QComboBox*>())
        if (isShown(box))
            narrow(box, box->currentText(), box->fontMetrics().horizontalAdvance(box->currentText()),
                   box->width() - 20);
    for (const QLineEdit* field : window.findChildren<QLineEdit*>())
        if (isShown(field) && !field->text().isEmpty() && !qobject_cast<QComboBox*>(field->parentWidget()))
            narrow(field, field->text(), field->fontMetrics().horizontalAdvance(field->text()),
                   field->width() - 6);
}

}  // namespace

QStringList illegible(const app::MainWindow& window) {
    QStringList faults;
    int plots = 0;
    for (const PlotView* plot : window.findChildren<PlotView*>()) {
        if (!plot->isVisible()) continue;
        ++plots;
        QStringList own;
        checkTexts(*plot, own);
        checkAxes(*plot, own);
        for (const QString& fault : own) faults << plot->shownFigure().title + QStringLiteral(": ") + fault;
    }
    if (plots == 0) faults << QStringLiteral("no plot is shown");
    checkWidgets(window, faults);
    faults.removeDuplicates();
    return faults;
}

}  // namespace normscope::test
