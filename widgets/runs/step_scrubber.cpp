// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/step_scrubber.h"

#include "core/base/assert.h"
#include "widgets/accessibility/accessible_role.h"
#include "widgets/common/text_size.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/run_sample.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <optional>

namespace normscope::widgets {
namespace {

constexpr double kMinGlyph = 5;    // in a thinner lane an outcome has no glyph
constexpr double kMaxLane = 12.5;  // of a lane's height with the gap to the next one
constexpr int kPage = 8;           // measured steps
constexpr double kStepScrubberSample = 22, kStepScrubberSampleLeft = 16;

bool has(const std::vector<qint64>& steps, qint64 step) {
    return std::binary_search(steps.begin(), steps.end(), step);
}

}  // namespace

StepScrubber::StepScrubber(QWidget* parent) : QWidget(parent) {
    setAccessibleRole(this, QAccessible::Chart);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Recorded steps"));
    describe();
}

void StepScrubber::setRange(qint64 recorded, qint64 planned) {
    planned = std::max(recorded, planned);
    if (recorded == recorded_ && planned == planned_) return;
    recorded_ = recorded;
    planned_ = planned;
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
    if (marks == marks_) return;
    marks_ = std::move(marks);
    update();
}

void StepScrubber::setLanes(std::vector<StepLane> lanes) {
    if (lanes == lanes_) return;
    for ([[maybe_unused]] const StepLane& lane : lanes) {
        NORMSCOPE_ASSERT(std::is_sorted(lane.some.begin(), lane.some.end()), "measured steps are ascending");
        NORMSCOPE_ASSERT(
            std::includes(lane.some.begin(), lane.some.end(), lane.by_all.begin(), lane.by_all.end()),
            "what all panels measured, one of them did");
    }
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
    return left() + share * (width() - left() - right());
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

QString StepScrubber::measuredText() const {
    if (lanes_.empty()) return {};
    if (measuredByAll(step_)) return tr("measured by every panel");
    std::optional<qint64> below, above;
    for (const StepLane& lane : lanes_) {
        const auto next = std::lower_bound(lane.some.begin(), lane.some.end(), step_);
        if (next != lane.some.end() && *next == step_) return tr("measured by some panels");
        if (next != lane.some.end()) above = above ? std::min(*above, *next) : *next;
        if (next != lane.some.begin()) below = std::max(below.value_or(-1), *std::prev(next));
    }
    if (below && above) return tr("not measured: nearest %1 / %2").arg(*below).arg(*above);
    if (!below && !above) return tr("not measured");
    return tr("not measured: nearest %1").arg(below ? *below : *above);
}

void StepScrubber::describe() {
    QString text = tr("step %1 of %2").arg(step_).arg(planned_);
    for (const StepLane& lane : lanes_) {
        const QString here = has(lane.by_all, step_) ? tr("measured here")
                             : has(lane.some, step_) ? tr("measured here in part")
                                                     : tr("not measured here");
        text += lane.some.size() == 1
                    ? tr("; %1: %2, at 1 step in all").arg(lane.name, here)
                    : tr("; %1: %2, at %3 steps in all").arg(lane.name, here).arg(lane.some.size());
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
        const double share = std::clamp((x - left()) / (width() - left() - right()), 0.0, 1.0);
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

QString StepScrubber::textAt(const QPointF& place) const {
    QStringList lines;
    for (std::size_t i = 0; place.x() < left() && i < lanes_.size(); ++i)
        if (laneRect(i).top() <= place.y() && place.y() < laneRect(i).bottom()) return lanes_[i].name;
    for (const StepMark& mark : marks_)
        if (std::abs(xOf(mark.step) - place.x()) <= 6)
            lines << tr("step %1: %2").arg(mark.step).arg(mark.text);
    if (!measured_.empty()) lines << tr("step %1 was measured").arg(snapped(place.x()));
    return lines.join(u'\n');
}

bool StepScrubber::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textAt(help->pos()), this);
    return true;
}

QRectF StepScrubber::laneRect(std::size_t lane) const {
    const double count = static_cast<double>(std::max<std::size_t>(1, lanes_.size()));
    const double space = height() - top() - bottom(),
                 each = std::min(kMaxLane * text_px_ / 11.0, space / count);
    const double upper = top() + (space - count * each) / 2 + static_cast<double>(lane) * each;
    return {left(), upper, width() - left() - right(), each};
}

QRectF StepScrubber::sampleRect(std::size_t lane) const {
    const QRectF lane_at = laneRect(lane);
    return {kStepScrubberSampleLeft, lane_at.top(), kStepScrubberSample * text_px_ / 11, lane_at.height()};
}

QRectF StepScrubber::outcomeRect(const StepMark& mark) const {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (lanes_[i].run != mark.run) continue;
        const QRectF lane = laneRect(i);
        const double side = std::min(lane.height(), right() - 4);
        if (side < kMinGlyph) return {};
        return {xOf(mark.step) + 3, lane.center().y() - side / 2, side, side};
    }
    return {};
}

void StepScrubber::paintLanes(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QColor window = palette().color(QPalette::Window);
    const auto bar = [&](const QRectF& lane, qint64 end, const QColor& colour) {
        const double gap = std::min(3.0, lane.height() * 0.25);
        painter.fillRect(
            QRectF(lane.left(), lane.top() + gap / 2, xOf(end) - lane.left(), lane.height() - gap), colour);
    };
    const QColor planned = blend(window, theme.text, 0.06);
    if (lanes_.empty()) {
        bar(laneRect(0), planned_, planned);
        if (recorded_ >= 0) bar(laneRect(0), recorded_, theme.neutral);
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const StepLane& lane = lanes_[i];
        const QRectF area = laneRect(i);
        const QColor colour = theme.run(lane.run);
        paintRunSample(painter, sampleRect(i), theme, lane.run, std::clamp(area.height() - 1.5, 1.25, 3.0));
        bar(area, planned_, planned);
        if (lane.recorded >= 0) bar(area, lane.recorded, blend(window, colour, 0.28));
        painter.setPen(QPen(colour, 1));
        for (const qint64 step : lane.some) {
            const double half = area.height() * (has(lane.by_all, step) ? 0.46 : 0.24), x = xOf(step);
            painter.drawLine(QPointF(x, area.center().y() - half), QPointF(x, area.center().y() + half));
        }
    }
}

/// The step shown in bold, zero, the powers of two and the last planned step where they have space.
void StepScrubber::paintSteps(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QFont plain = sized(font(), text_px_), bold = sized(font(), text_px_, QFont::DemiBold);
    const double row = height() - bottom(), gap = text_px_ / 2.0;
    std::vector<QRectF> taken;
    const auto write = [&](qint64 step, const QFont& type, const QColor& colour) {
        const QString number = QString::number(step);
        const double wide = QFontMetricsF(type).horizontalAdvance(number) + 1;
        const double from = std::clamp(xOf(step) - wide / 2, 0.0, std::max(0.0, width() - wide));
        const QRectF place(from, row, wide, bottom());
        for (const QRectF& other : taken)
            if (other.adjusted(-gap, 0, gap, 0).intersects(place)) return;
        taken.push_back(place);
        painter.setFont(type);
        painter.setPen(colour);
        painter.drawText(place, Qt::AlignCenter, number);
    };
    write(step_, bold, theme.text);
    write(0, plain, theme.muted);
    if (planned_ > 0) write(planned_, plain, theme.muted);
    for (qint64 step = 1; step < planned_; step *= 2) write(step, plain, theme.muted);
    painter.setFont(plain);
    painter.setPen(theme.muted);
    painter.drawText(QRectF(0, row, left() - 14, bottom()), Qt::AlignRight | Qt::AlignVCenter, tr("step"));
}

void StepScrubber::paintHandle(QPainter& painter) const {
    const QColor ink = themeOf(palette()).text;
    const double x = xOf(step_), side = isLarge() ? 7 : 5;
    painter.setPen(QPen(ink, 1.5));
    painter.drawLine(QPointF(x, side), QPointF(x, height() - bottom()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPolygon(
        QPolygonF({{x - side, 0}, {x + side, 0}, {x + side, side}, {x, 2 * side - 1}, {x - side, side}}));
}

void StepScrubber::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintLanes(painter);
    for (const StepMark& mark : marks_) {
        const double x = xOf(mark.step);
        if (mark.state == RunState::Running) {
            painter.setPen(QPen(theme.run(mark.run), 1.5));
            painter.drawLine(QPointF(x, top() - 6), QPointF(x, top() - 1));
        } else if (const QRectF glyph = outcomeRect(mark); !glyph.isEmpty()) {
            painter.fillRect(glyph, palette().color(QPalette::Window));
            paintGlyph(painter, glyph, outcomeGlyph(mark.state), theme.text);
        }
    }
    paintSteps(painter);
    paintHandle(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(
            QRectF(left() - 4, top() - 1, width() - left() - right() + 8, height() - top() - bottom() + 2), 3,
            3);
    }
}

}  // namespace normscope::widgets
