// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/step_scrubber.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kLeastGlyph = 5;  // in a thinner lane an outcome has no glyph
constexpr double kBottom = 3;      // and below the lanes
constexpr double kMostLane = 9;    // of a lane's height
constexpr int kPage = 8;           // measured steps

bool has(const std::vector<qint64>& steps, qint64 step) {
    return std::binary_search(steps.begin(), steps.end(), step);
}

}  // namespace

StepScrubber::StepScrubber(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Recorded steps"));
}

void StepScrubber::setRange(qint64 recorded, qint64 planned) {
    recorded_ = recorded;
    planned_ = std::max(recorded, planned);
    gatherMeasured();
}

void StepScrubber::setTextSize(int px) {
    text_px_ = px;
    updateGeometry();
    update();
}

void StepScrubber::setStep(qint64 step) {
    if (step == step_) return;
    step_ = step;
    describe();
    update();
}

void StepScrubber::setMarks(std::vector<StepMark> marks) {
    marks_ = std::move(marks);
    update();
}

void StepScrubber::setLanes(std::vector<StepLane> lanes) {
    lanes_ = std::move(lanes);
    gatherMeasured();
}

void StepScrubber::gatherMeasured() {
    measured_.clear();
    for (const StepLane& lane : lanes_) measured_.insert(measured_.end(), lane.some.begin(), lane.some.end());
    // The newest step is always among them, measured or not.
    if (!measured_.empty() && recorded_ >= 0) measured_.push_back(recorded_);
    std::sort(measured_.begin(), measured_.end());
    measured_.erase(std::unique(measured_.begin(), measured_.end()), measured_.end());
    describe();
    update();
}

double StepScrubber::xOf(qint64 step) const {
    const double share = planned_ > 0 ? std::log2(1.0 + static_cast<double>(step)) /
                                            std::log2(1.0 + static_cast<double>(planned_))
                                      : 0;
    return margin() + share * (width() - 2 * margin());
}

qint64 StepScrubber::measuredNeighbour(qint64 from, int direction) const {
    if (measured_.empty()) return std::clamp<qint64>(from + direction, 0, std::max<qint64>(0, recorded_));
    if (direction > 0) {
        const auto next = std::upper_bound(measured_.begin(), measured_.end(), from);
        return next == measured_.end() || *next > recorded_ ? from : *next;
    }
    const auto next = std::lower_bound(measured_.begin(), measured_.end(), from);
    return next == measured_.begin() ? from : *std::prev(next);
}

bool StepScrubber::measuredByAll(qint64 step) const {
    return std::all_of(lanes_.begin(), lanes_.end(),
                       [&](const StepLane& lane) { return step > lane.recorded || has(lane.by_all, step); });
}

void StepScrubber::describe() {
    QString text = tr("step %1 of %2").arg(step_).arg(planned_);
    for (const StepLane& lane : lanes_) {
        const QString here = has(lane.by_all, step_) ? tr("measured here")
                             : has(lane.some, step_) ? tr("measured here in part")
                                                     : tr("not measured here");
        text += tr("; %1: %2, at %3 steps in all").arg(lane.name, here).arg(lane.some.size());
    }
    setAccessibleDescription(text);
}

void StepScrubber::scrubTo(qint64 step) {
    step = std::clamp<qint64>(step, 0, std::max<qint64>(0, recorded_));
    if (step == step_) return;
    setStep(step);
    Q_EMIT scrubbed(step);
}

qint64 StepScrubber::snapped(double x) const {
    if (measured_.empty()) {
        const double share = std::clamp((x - margin()) / (width() - 2 * margin()), 0.0, 1.0);
        return std::llround(std::exp2(share * std::log2(1.0 + static_cast<double>(planned_))) - 1);
    }
    return *std::min_element(measured_.begin(), measured_.end(),
                             [&](qint64 a, qint64 b) { return std::abs(xOf(a) - x) < std::abs(xOf(b) - x); });
}

void StepScrubber::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) mouseMoveEvent(event);
}

void StepScrubber::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) scrubTo(snapped(event->position().x()));
}

void StepScrubber::keyPressEvent(QKeyEvent* event) {
    const bool single = event->modifiers() & Qt::ShiftModifier;
    const auto pages = [&](int direction) {
        qint64 step = step_;
        for (int i = 0; i < kPage; ++i) step = measuredNeighbour(step, direction);
        return step;
    };
    switch (event->key()) {
        case Qt::Key_Left:
            return scrubTo(single ? step_ - 1 : measuredNeighbour(step_, -1));
        case Qt::Key_Right:
            return scrubTo(single ? step_ + 1 : measuredNeighbour(step_, 1));
        case Qt::Key_PageDown:
            return scrubTo(pages(-1));
        case Qt::Key_PageUp:
            return scrubTo(pages(1));
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
    if (!measured_.empty()) lines << tr("step %1 was measured").arg(snapped(x));
    return lines.join(u'\n');
}

bool StepScrubber::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), marksAt(help->pos().x()), this);
    return true;
}

QRectF StepScrubber::laneRect(std::size_t lane) const {
    const double count = static_cast<double>(std::max<std::size_t>(1, lanes_.size()));
    const double space = height() - top() - kBottom,
                 each = std::min(kMostLane * text_px_ / 11.0, space / count);
    const double upper = top() + (space - count * each) / 2 + static_cast<double>(lane) * each;
    return {margin(), upper, width() - 2 * margin(), each};
}

QRectF StepScrubber::outcomeRect(const StepMark& mark) const {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (lanes_[i].run != mark.run) continue;
        const QRectF lane = laneRect(i);
        const double side = std::min(lane.height(), margin() - 2);
        if (side < kLeastGlyph) return {};
        return {xOf(mark.step) + 1, lane.center().y() - side / 2, side, side};
    }
    return {};
}

void StepScrubber::paintLanes(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const auto bar = [&](const QRectF& lane, qint64 end, const QColor& colour) {
        const double thick = std::max(1.5, lane.height() * 0.25);
        painter.fillRect(QRectF(lane.left(), lane.center().y() - thick / 2, xOf(end) - lane.left(), thick),
                         colour);
    };
    if (lanes_.empty()) {
        bar(laneRect(0), planned_, theme.neutral);
        if (recorded_ >= 0) bar(laneRect(0), recorded_, theme.axis);
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const StepLane& lane = lanes_[i];
        const QRectF area = laneRect(i);
        const QColor colour = theme.run(lane.run);
        bar(area, planned_, theme.neutral);
        if (lane.recorded >= 0) bar(area, lane.recorded, blend(theme.neutral, colour, 0.45));
        painter.setPen(QPen(colour, 1));
        for (const qint64 step : lane.some) {
            const double half = area.height() * (has(lane.by_all, step) ? 0.46 : 0.24), x = xOf(step);
            painter.drawLine(QPointF(x, area.center().y() - half), QPointF(x, area.center().y() + half));
        }
    }
}

void StepScrubber::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintLanes(painter);
    for (const StepMark& mark : marks_) {
        const double x = xOf(mark.step);
        const QColor colour = theme.run(mark.run);
        if (mark.state == RunState::Running) {
            painter.setPen(QPen(colour, 1.5));
            painter.drawLine(QPointF(x, top() - 5), QPointF(x, top()));
        } else if (const QRectF glyph = outcomeRect(mark); !glyph.isEmpty()) {
            painter.fillRect(glyph, palette().color(QPalette::Window));
            paintGlyph(painter, glyph, outcomeGlyph(mark.state), colour);
        }
    }
    // The playhead and its step number, inside the widget and clear of the outcomes' glyphs.
    const double x = xOf(step_);
    const QColor ink = recorded_ >= 0 ? theme.text : theme.axis;
    painter.setPen(QPen(ink, hasFocus() ? 2.5 : 1.5));
    painter.drawLine(QPointF(x, top() - 3), QPointF(x, height() - 1));
    QFont small = font();
    small.setPixelSize(text_px_);
    painter.setFont(small);
    const QString number = QString::number(step_);
    const double wide = QFontMetricsF(small).horizontalAdvance(number) + 4;
    const double left = std::clamp(x - wide / 2, 0.0, std::max(0.0, width() - wide));
    const QRectF label(left, 0, wide, top() - 3);
    painter.fillRect(label, palette().color(QPalette::Window));
    painter.drawText(label, Qt::AlignCenter, number);
    if (hasFocus()) {
        painter.setPen(QPen(theme.text, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(0.5, top() - 1.5, width() - 1.0, height() - top() + 1), 3, 3);
    }
}

}  // namespace normscope::widgets
