// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/norm_chip.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPen>
#include <QToolTip>

namespace normscope::widgets {

QPen absentPen(const QColor& colour) {
    QPen pen(colour, 1);
    pen.setDashPattern({2.5, 2});
    pen.setCapStyle(Qt::FlatCap);
    return pen;
}

NormChip::NormChip(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::NoFocus);  // the stack has the focus: arrows and I, O, P
    setMouseTracking(true);       // moves propagate to the stack, for layerHovered
    setCursor(Qt::PointingHandCursor);
    QFont font = this->font();
    font.setPixelSize(11);
    setFont(font);
    connect(this, &QAbstractButton::clicked, this,
            [this] { Q_EMIT toggleRequested(std::exchange(shift_, false)); });
}

void NormChip::setNorm(int layer, Sublayer kind, NormPlace place, bool on, bool overridden) {
    if (layer == layer_ && kind == kind_ && place == place_ && on == isChecked() && overridden == overridden_)
        return;
    layer_ = layer;
    kind_ = kind;
    place_ = place;
    overridden_ = overridden;
    setChecked(on);
    setText(QString::fromUtf8(normPlaceName(place)));
    const QString where = kind == Sublayer::Attention ? tr("attention") : tr("feed-forward");
    const QString name = place == NormPlace::In    ? tr("Input norm, layer %1 %2")
                         : place == NormPlace::Out ? tr("Output norm, layer %1 %2")
                                                   : tr("Post norm, layer %1 %2");
    setAccessibleName(name.arg(layer + 1).arg(where));
    setAccessibleDescription(overridden ? tr("set by hand") : tr("as in the scheme"));
    update();
}

bool NormChip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractButton::event(event);
    const QString state = isChecked() ? tr("on") : tr("off");
    const QString text =
        QStringLiteral("%1: %2 (%3)\n%4")
            .arg(accessibleName(), state, accessibleDescription(),
                 tr("Click: this layer. Shift+click: all layers. Right click: reset, apply to all."));
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text, this);
    return true;
}

void NormChip::mouseReleaseEvent(QMouseEvent* event) {
    shift_ = event->modifiers() & Qt::ShiftModifier;
    QAbstractButton::mouseReleaseEvent(event);
    shift_ = false;
}

void NormChip::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    const QColor accent = palette().color(QPalette::Highlight);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor fill = isDown() ? blend(accent, theme.text, 0.25) : accent;
    if (isChecked()) {
        painter.setPen(QPen(fill, 1));
        painter.setBrush(fill);
    } else {
        painter.setPen(absentPen(underMouse() ? theme.text : theme.axis));
        painter.setBrush(Qt::NoBrush);
    }
    painter.drawRoundedRect(box, 4, 4);
    if (overridden_) {
        painter.setPen(QPen(isChecked() ? theme.muted : theme.text, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    painter.setPen(isChecked() ? textOn(fill) : theme.muted);
    QFont font = this->font();
    if (isChecked()) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.drawText(rect(), Qt::AlignCenter, text());
    if (overridden_) {
        // A dot, as at a changed knob.
        painter.setPen(QPen(theme.background, 1));
        painter.setBrush(theme.text);
        painter.drawEllipse(QPointF(width() - 3, 3), 2.5, 2.5);
    }
}

}  // namespace normscope::widgets
