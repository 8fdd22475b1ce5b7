// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/window_style.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>
#include <QPushButton>
#include <QStyleFactory>
#include <QStyleOption>

namespace normscope::widgets {

namespace {

constexpr double kRadius = 6;

bool isDefault(const QStyleOption* option) {
    const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
    return button && (button->features & QStyleOptionButton::DefaultButton) &&
           (option->state & QStyle::State_Enabled);
}

void paintButton(const QStyleOption* option, QPainter* painter) {
    const QPalette& palette = option->palette;
    const Theme theme = themeOf(palette);
    const bool enabled = option->state & QStyle::State_Enabled;
    const bool down = option->state & (QStyle::State_Sunken | QStyle::State_On);
    const bool active = enabled && (down || option->state & QStyle::State_MouseOver),
               solid = isDefault(option);
    QColor fill = theme.background, ink = palette.color(QPalette::ButtonText);
    if (active) fill = blend(palette.color(QPalette::Window), theme.text, down ? 0.14 : 0.07);
    if (solid) {
        fill = palette.color(QPalette::Highlight);
        ink = palette.color(QPalette::HighlightedText);
        if (active) fill = blend(fill, ink, down ? 0.25 : 0.12);
    }
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(fill);
    painter->setPen(solid ? QPen(Qt::NoPen) : QPen(theme.neutral, 1));
    const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->drawRoundedRect(box, kRadius, kRadius);
    if (option->state & QStyle::State_HasFocus) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(ink, 2));
        painter->drawRoundedRect(box.adjusted(1.5, 1.5, -1.5, -1.5), kRadius - 2, kRadius - 2);
    }
    painter->restore();
}

}  // namespace

WindowStyle::WindowStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void WindowStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                const QWidget* widget) const {
    if (element == PE_PanelButtonCommand) return paintButton(option, painter);
    const bool raised = !(option->state & State_AutoRaise);
    if (element == PE_PanelButtonTool && raised) return paintButton(option, painter);
    if (element == PE_FrameFocusRect && qobject_cast<const QPushButton*>(widget)) return;  // it has its ring
    QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void WindowStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                              const QWidget* widget) const {
    const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
    if (element != CE_PushButtonLabel || !button || !isDefault(option))
        return QProxyStyle::drawControl(element, option, painter, widget);
    QStyleOptionButton solid(*button);
    solid.palette.setColor(QPalette::ButtonText, solid.palette.color(QPalette::HighlightedText));
    QProxyStyle::drawControl(element, &solid, painter, widget);
}

int WindowStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                           QStyleHintReturn* answer) const {
    if (hint == SH_DialogButtonBox_ButtonsHaveIcons) return 0;
    return QProxyStyle::styleHint(hint, option, widget, answer);
}

/// A pressed button's text stays where it is, as that of the window's bars does.
QIcon WindowStyle::standardIcon(StandardPixmap which, const QStyleOption* option,
                                const QWidget* widget) const {
    switch (which) {
        case SP_MessageBoxQuestion:
        case SP_MessageBoxInformation:
        case SP_MessageBoxWarning:
        case SP_MessageBoxCritical:
            return {};
        default:
            return QProxyStyle::standardIcon(which, option, widget);
    }
}

int WindowStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    if (metric == PM_ButtonShiftHorizontal || metric == PM_ButtonShiftVertical) return 0;
    return QProxyStyle::pixelMetric(metric, option, widget);
}

}  // namespace normscope::widgets
