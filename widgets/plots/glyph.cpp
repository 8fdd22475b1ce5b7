// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/glyph.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOptionToolButton>
#include <QStylePainter>

namespace normscope::widgets {
namespace {

// Coordinates of a 16 × 16 square.
void triangle(QPainterPath& path, double x, double width, bool right) {
    const double from = right ? x : x + width, to = right ? x + width : x;
    path.moveTo(from, 3);
    path.lineTo(to, 8);
    path.lineTo(from, 13);
    path.closeSubpath();
}

QPainterPath filledPath(Glyph glyph) {
    QPainterPath path;
    switch (glyph) {
        case Glyph::First:
            path.addRect(3, 3, 2, 10);
            triangle(path, 5.5, 8, false);
            break;
        case Glyph::Back:
            triangle(path, 3, 7, false);
            path.addRect(11, 3, 2, 10);
            break;
        case Glyph::Play:
            triangle(path, 4, 10, true);
            break;
        case Glyph::Pause:
            path.addRect(4, 3, 3, 10);
            path.addRect(9, 3, 3, 10);
            break;
        case Glyph::Forward:
            path.addRect(3, 3, 2, 10);
            triangle(path, 6, 7, true);
            break;
        case Glyph::Last:
            triangle(path, 2.5, 8, true);
            path.addRect(11, 3, 2, 10);
            break;
        case Glyph::Dot:
            path.addEllipse(QPointF(8, 8), 4, 4);
            break;
        case Glyph::More:
            for (const double x : {3.5, 8.0, 12.5}) path.addEllipse(QPointF(x, 8), 1.4, 1.4);
            break;
        case Glyph::Bar:
            path.addRect(2.5, 6, 11, 4);
            break;
        case Glyph::Bang:
            path.addRect(7, 2.5, 2, 7);
            path.addEllipse(QPointF(8, 12.2), 1.3, 1.3);
            break;
        case Glyph::Theme:  // half of a disc
            path.moveTo(8, 2.5);
            path.arcTo(2.5, 2.5, 11, 11, 90, 180);
            path.closeSubpath();
            break;
        case Glyph::Undo:
        case Glyph::Redo: {  // the arrow head
            const double s = glyph == Glyph::Redo ? 1 : -1;
            path.moveTo(8 + s * 6, 6);
            path.lineTo(8 + s * 1.6, 9.4);
            path.lineTo(8 + s * 1.6, 2.6);
            path.closeSubpath();
            break;
        }
        case Glyph::Restart:
        case Glyph::Reset: {  // the arrow head of the arc below
            const bool clockwise = glyph == Glyph::Restart;
            const double s = clockwise ? 1 : -1;
            path.moveTo(8 + s * 2.2, 6.2);
            path.lineTo(8 + s * 6.6, 6.2);
            path.lineTo(8 + s * 5.6, 1.8);
            path.closeSubpath();
            break;
        }
        default:
            break;
    }
    return path;
}

QPainterPath strokedPath(Glyph glyph) {
    QPainterPath path;
    switch (glyph) {
        case Glyph::Check:
            path.moveTo(3, 8.5);
            path.lineTo(6.5, 12);
            path.lineTo(13, 4);
            break;
        case Glyph::Cross:
            path.moveTo(4, 4);
            path.lineTo(12, 12);
            path.moveTo(12, 4);
            path.lineTo(4, 12);
            break;
        case Glyph::StepDown:
            path.moveTo(2.5, 4.5);
            path.lineTo(8, 4.5);
            path.lineTo(8, 11.5);
            path.lineTo(13.5, 11.5);
            break;
        case Glyph::Theme:
            path.addEllipse(QPointF(8, 8), 5.5, 5.5);
            break;
        case Glyph::Restart:
            path.arcMoveTo(3, 3, 10, 10, 40);
            path.arcTo(3, 3, 10, 10, 40, 290);
            break;
        case Glyph::Reset:
            path.arcMoveTo(3, 3, 10, 10, 140);
            path.arcTo(3, 3, 10, 10, 140, -290);
            break;
        case Glyph::Linked:
        case Glyph::Unlinked: {
            const double gap = glyph == Glyph::Linked ? 0 : 1.5;
            path.addRoundedRect(QRectF(1.5 - gap / 2, 5.5, 7, 5), 2.5, 2.5);
            path.addRoundedRect(QRectF(7.5 + gap / 2, 5.5, 7, 5), 2.5, 2.5);
            if (glyph == Glyph::Unlinked) {
                path.moveTo(4, 13.5);
                path.lineTo(12, 2.5);
            }
            break;
        }
        case Glyph::Search:
            path.addEllipse(QPointF(6.8, 6.8), 4.2, 4.2);
            path.moveTo(10, 10);
            path.lineTo(13.5, 13.5);
            break;
        case Glyph::Plus:
            path.moveTo(8, 3.5);
            path.lineTo(8, 12.5);
            path.moveTo(3.5, 8);
            path.lineTo(12.5, 8);
            break;
        case Glyph::Download:
            path.moveTo(8, 2.5);
            path.lineTo(8, 10.5);
            path.moveTo(4.5, 7.5);
            path.lineTo(8, 11);
            path.lineTo(11.5, 7.5);
            path.moveTo(3, 13.5);
            path.lineTo(13, 13.5);
            break;
        case Glyph::Expand:
            path.moveTo(9.5, 3);
            path.lineTo(13, 3);
            path.lineTo(13, 6.5);
            path.moveTo(13, 3);
            path.lineTo(9.2, 6.8);
            path.moveTo(6.5, 13);
            path.lineTo(3, 13);
            path.lineTo(3, 9.5);
            path.moveTo(3, 13);
            path.lineTo(6.8, 9.2);
            break;
        case Glyph::Menu:
            for (const double y : {4.0, 8.0, 12.0}) {
                path.moveTo(2.5, y);
                path.lineTo(13.5, y);
            }
            break;
        case Glyph::List:
            path.addRoundedRect(QRectF(2, 3, 12, 10), 1.5, 1.5);
            for (const double y : {6.3, 9.7}) {
                path.moveTo(2, y);
                path.lineTo(14, y);
            }
            break;
        case Glyph::Undo:
            path.moveTo(6, 6);
            path.lineTo(9.5, 6);
            path.arcTo(5.75, 6, 7.5, 7.5, 90, -180);
            path.lineTo(5.5, 13.5);
            break;
        case Glyph::Redo:
            path.moveTo(10, 6);
            path.lineTo(6.5, 6);
            path.arcTo(2.75, 6, 7.5, 7.5, 90, 180);
            path.lineTo(10.5, 13.5);
            break;
        case Glyph::Arc:
            path.arcMoveTo(3.5, 3.5, 9, 9, 30);
            path.arcTo(3.5, 3.5, 9, 9, 30, -270);
            break;
        case Glyph::Ring:
            path.addEllipse(QPointF(8, 8), 4.2, 4.2);
            break;
        case Glyph::Caret:
            path.moveTo(4, 6);
            path.lineTo(8, 10.5);
            path.lineTo(12, 6);
            break;
        default:
            break;
    }
    return path;
}

}  // namespace

void paintPaths(QPainter& painter, const QRectF& rect, const QPainterPath& stroked,
                const QPainterPath& filled, const QColor& colour) {
    const double side = std::min(rect.width(), rect.height());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(rect.center() - QPointF(side, side) / 2);
    painter.scale(side / 16, side / 16);
    painter.fillPath(filled, colour);
    painter.strokePath(stroked, QPen(colour, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.restore();
}

void paintGlyph(QPainter& painter, const QRectF& rect, Glyph glyph, const QColor& colour) {
    paintPaths(painter, rect, strokedPath(glyph), filledPath(glyph), colour);
}

Glyph outcomeGlyph(RunState state) {
    switch (state) {
        case RunState::Finished:
            return Glyph::Check;
        case RunState::Diverged:
            return Glyph::Cross;
        case RunState::Collapsed:
            return Glyph::StepDown;
        case RunState::Stalled:
            return Glyph::Bar;
        case RunState::Paused:
        case RunState::Interrupted:
            return Glyph::Pause;
        case RunState::Failed:
            return Glyph::Bang;
        case RunState::Prepared:
            return Glyph::Ring;
        case RunState::Running:
            break;
    }
    return Glyph::Arc;
}

bool keepsSpace(const QWidget* button, QEvent* event) {
    return event->type() == QEvent::ShortcutOverride && button->hasFocus() &&
           static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
}

GlyphButton::GlyphButton(Glyph glyph, const QString& name, QWidget* parent) : QToolButton(parent) {
    setAutoRaise(true);
    setFocusPolicy(Qt::TabFocus);
    setGlyph(glyph, name);
}

void GlyphButton::setGlyph(Glyph glyph, const QString& name) {
    if (glyph == glyph_ && name == toolTip()) return;
    glyph_ = glyph;
    setAccessibleName(name);
    setToolTip(name);
    update();
}

QSize GlyphButton::sizeHint() const {
    return {24, 24};
}

bool GlyphButton::event(QEvent* event) {
    if (keepsSpace(this, event)) {
        event->accept();
        return true;
    }
    return QToolButton::event(event);
}

void GlyphButton::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionToolButton option;
    initStyleOption(&option);
    painter.drawComplexControl(QStyle::CC_ToolButton, option);
    const auto group = isEnabled() ? QPalette::Active : QPalette::Disabled;
    const double side = std::min({16.0, width() - 6.0, height() - 6.0});
    QRectF square(0, 0, side, side);
    square.moveCenter(QRectF(rect()).center());
    paintGlyph(painter, square, glyph_, palette().color(group, QPalette::ButtonText));
}

}  // namespace normscope::widgets
