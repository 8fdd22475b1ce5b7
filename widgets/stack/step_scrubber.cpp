// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/step_scrubber.h"

#include "widgets/plots/colour_map.h"
#include "widgets/stack/glyph.h"
#include "widgets/stack/palette_theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {
constexpr double kMargin = 9, kGroove = 6, kThumbRadius = 7;
}

StepScrubber::StepScrubber(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Recorded steps"));
}

void StepScrubber::setRange(qint64 recorded, qint64 planned) {
    recorded_ = recorded;
    planned_ = std::max(recorded, planned);
    update();
}

void StepScrubber::setStep(qint64 step) {
    if (step == step_) return;
    step_ = step;
    setAccessibleDescription(tr("step %1 of %2").arg(step_).arg(planned_));
    update();
}

void StepScrubber::setMarks(std::vector<StepMark> marks) {
    marks_ = std::move(marks);
    update();
}

double StepScrubber::xOf(qint64 step) const {
    const double share = planned_ > 0 ? static_cast<double>(step) / static_cast<double>(planned_) : 0;
    return kMargin + share * (width() - 2 * kMargin);
}

void StepScrubber::scrubTo(qint64 step) {
    step = std::clamp<qint64>(step, 0, std::max<qint64>(0, recorded_));
    if (step == step_) return;
    setStep(step);
    Q_EMIT scrubbed(step);
}

void StepScrubber::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) mouseMoveEvent(event);
}

void StepScrubber::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton)) return;
    const double share = (event->position().x() - kMargin) / (width() - 2 * kMargin);
    scrubTo(std::llround(share * static_cast<double>(planned_)));
}

void StepScrubber::keyPressEvent(QKeyEvent* event) {
    const qint64 page = std::max<qint64>(1, recorded_ / 10);
    switch (event->key()) {
        case Qt::Key_Left:
            return scrubTo(step_ - 1);
        case Qt::Key_Right:
            return scrubTo(step_ + 1);
        case Qt::Key_PageDown:
            return scrubTo(step_ - page);
        case Qt::Key_PageUp:
            return scrubTo(step_ + page);
        case Qt::Key_Home:
            return scrubTo(0);
        case Qt::Key_End:
            return scrubTo(recorded_);
        default:
            QWidget::keyPressEvent(event);
    }
}

QString StepScrubber::marksAt(double x) const {
    QStringList lines;
    for (const StepMark& mark : marks_)
        if (std::abs(xOf(mark.step) - x) <= 6) lines << tr("step %1: %2").arg(mark.step).arg(mark.text);
    return lines.join(u'\n');
}

bool StepScrubber::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), marksAt(help->pos().x()), this);
    return true;
}

void StepScrubber::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    const QColor accent = palette().color(QPalette::Highlight);
    const double y = height() / 2.0;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.neutral);
    painter.drawRoundedRect(QRectF(kMargin, y - kGroove / 2, width() - 2 * kMargin, kGroove), 3, 3);
    if (recorded_ >= 0) {
        painter.setBrush(blend(theme.neutral, accent, 0.6));
        painter.drawRoundedRect(QRectF(kMargin, y - kGroove / 2, xOf(recorded_) - kMargin, kGroove), 3, 3);
    }
    for (const StepMark& mark : marks_) {
        const double x = xOf(mark.step);
        const QColor colour = theme.run(mark.run);
        if (mark.state == RunState::Running) {
            painter.setPen(QPen(colour, 1.5));
            painter.drawLine(QPointF(x, y + 6), QPointF(x, y + 13));
        } else {
            paintGlyph(painter, QRectF(x - 6, y - 19, 12, 12), outcomeGlyph(mark.state), colour);
        }
    }
    painter.setPen(QPen(hasFocus() ? theme.text : theme.background, hasFocus() ? 2 : 1));
    painter.setBrush(recorded_ >= 0 ? accent : theme.axis);
    painter.drawEllipse(QPointF(xOf(step_), y), kThumbRadius, kThumbRadius);
}

}  // namespace normscope::widgets
