// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_slider.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QAccessibleWidget>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {
constexpr double kKnobSliderMargin = 6, kThumbRadius = 6, kStopRadius = 3.5, kSnapPixels = 3;
constexpr double kLabelledMargin = 20;  // half a label lies beyond the end of the groove
constexpr double kMarkBegins = 4;       // px from the press: a click marks nothing
constexpr int kWheelNotch = 120;

/// Accessibility: a slider, its value, its ends.
class SliderAccess : public QAccessibleWidget, public QAccessibleValueInterface {
  public:
    explicit SliderAccess(KnobSlider* slider)
        : QAccessibleWidget(slider, QAccessible::Slider), slider_(slider) {}
    void* interface_cast(QAccessible::InterfaceType type) override {
        if (type == QAccessible::ValueInterface) return static_cast<QAccessibleValueInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }
    QString text(QAccessible::Text kind) const override {
        return kind == QAccessible::Value ? valueText(slider_->scale(), slider_->value())
                                          : QAccessibleWidget::text(kind);
    }
    QVariant currentValue() const override { return slider_->value(); }
    void setCurrentValue(const QVariant& value) override {
        if (isAllowed(slider_->scale(), value.toDouble())) slider_->commit(value.toDouble());
    }
    QVariant maximumValue() const override { return valueAt(slider_->scale(), 1); }
    QVariant minimumValue() const override { return valueAt(slider_->scale(), 0); }
    QVariant minimumStepSize() const override { return 0; }

  private:
    KnobSlider* slider_;
};

QAccessibleInterface* sliderAccess(const QString&, QObject* object) {
    auto* slider = qobject_cast<KnobSlider*>(object);
    return slider ? new SliderAccess(slider) : nullptr;
}

}  // namespace

KnobSlider::KnobSlider(QWidget* parent) : QWidget(parent) {
    [[maybe_unused]] static const bool installed = (QAccessible::installFactory(sliderAccess), true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void KnobSlider::setScale(const KnobScale& scale) {
    if (scale == scale_) return;
    scale_ = scale;
    update();
}

void KnobSlider::changeTo(double value) {
    value_ = value;
    update();
    if (QAccessible::isActive()) {
        QAccessibleValueChangeEvent event(this, value);
        QAccessible::updateAccessibility(&event);
    }
}

void KnobSlider::setValue(double value) {
    if (!dragging_ && value != value_) changeTo(value);
}

void KnobSlider::setStops(const std::vector<double>& stops, bool swept) {
    if (stops == stops_ && swept == swept_) return;
    stops_ = stops;
    swept_ = swept;
    update();
}

void KnobSlider::setTextSize(int px) {
    text_px_ = px;
    size_ = labelled() ? 1.5 : 1;
    updateGeometry();
    update();
}

void KnobSlider::setTarget(std::optional<double> value) {
    if (value == target_) return;
    target_ = value;
    update();
}

double KnobSlider::margin() const {
    return labelled() ? kLabelledMargin : kKnobSliderMargin;
}

int KnobSlider::heightHint() const {
    return labelled() ? static_cast<int>(18 * size_) + text_px_ * 5 / 4 : 18;
}

double KnobSlider::xOf(double value) const {
    return margin() + positionOf(scale_, value) * length();
}

/// The detents with the target among them.
KnobScale KnobSlider::snapScale() const {
    KnobScale scale = scale_;
    if (target_ && !scale.detents_only) {
        scale.detents.push_back(*target_);
        std::sort(scale.detents.begin(), scale.detents.end());
    }
    return scale;
}

void KnobSlider::moveTo(double value) {
    if (value == value_) return;
    changeTo(value);
    Q_EMIT valueChanging(value);
}

void KnobSlider::commit(double value) {
    if (value == value_) return;
    const double old = value_;
    changeTo(value);
    Q_EMIT valueCommitted(old, value);
}

void KnobSlider::endDrag() {
    if (!dragging_) return;
    dragging_ = false;
    delete bubble_;
    update();
    Q_EMIT valueCommitted(before_drag_, value_);
}

void KnobSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    if (ranges_markable_ && (event->modifiers() & Qt::ShiftModifier)) {
        pressed_x_ = event->position().x();
        const double value = valueAt(scale_, (pressed_x_ - margin()) / length());
        marked_ = {value, value};
        return;
    }
    before_drag_ = value_;
    dragging_ = true;
    const double distance = event->position().x() - xOf(value_);
    grip_ = std::abs(distance) <= size_ * kThumbRadius + 2 ? distance : 0;
    Q_EMIT dragStarted();
    mouseMoveEvent(event);
    update();
}

void KnobSlider::mouseMoveEvent(QMouseEvent* event) {
    if (marked_) return markTo(event->position().x());
    if (!dragging_) return;
    const double position = (event->position().x() - grip_ - margin()) / length();
    const bool on_thumb = std::abs(event->position().x() - grip_ - xOf(value_)) < 0.5;
    const bool free = event->modifiers() & Qt::ShiftModifier;
    if (!on_thumb)
        moveTo(free ? valueAt(scale_, position)
                    : snappedValueAt(snapScale(), position, kSnapPixels * size_ / length()));
    showBubble();
}

void KnobSlider::showBubble() {
    showBubbleAt(thumb().x(), valueText(scale_, value_));
}

void KnobSlider::showBubbleAt(double x, const QString& text) {
    if (!bubble_) {
        bubble_ = new QLabel(window());
        bubble_->setAttribute(Qt::WA_TransparentForMouseEvents);
        bubble_->setAutoFillBackground(true);
        bubble_->setBackgroundRole(QPalette::ToolTipBase);
        bubble_->setForegroundRole(QPalette::ToolTipText);
        bubble_->setFrameShape(QFrame::Box);
        bubble_->setMargin(3);
    }
    bubble_->setText(text);
    bubble_->adjustSize();
    // Above the thumb.
    QPoint at = mapTo(window(), QPointF(x, grooveY()).toPoint()) -
                QPoint(bubble_->width() / 2, bubble_->height() + 10);
    at.setX(std::clamp(at.x(), 0, std::max(0, window()->width() - bubble_->width())));
    bubble_->move(at.x(), std::max(0, at.y()));
    bubble_->show();
}

/// The marked range reaches to here; values that the knob would snap to are not preferred.
void KnobSlider::markTo(double x) {
    if (marked_->first == marked_->second && std::abs(x - pressed_x_) < kMarkBegins) return;
    marked_->second = valueAt(scale_, (x - margin()) / length());
    const auto [low, high] = std::minmax(marked_->first, marked_->second);
    showBubbleAt(x, QStringLiteral("%1 … %2").arg(valueText(scale_, low), valueText(scale_, high)));
    update();
}

void KnobSlider::endMarking(bool done) {
    if (!marked_) return;
    const auto [from, to] = *std::exchange(marked_, std::nullopt);
    delete bubble_;
    update();
    if (done && from != to) Q_EMIT rangeMarked(std::min(from, to), std::max(from, to));
}

void KnobSlider::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    // Shift+click: the value under the mouse, not that of a detent.
    if (marked_ && std::abs(event->position().x() - pressed_x_) < kMarkBegins &&
        marked_->first == marked_->second)
        commit(marked_->first);
    endMarking(true);
    endDrag();
}

void KnobSlider::focusOutEvent(QFocusEvent* event) {
    endDrag();  // on loss of focus the release may not arrive
    endMarking(false);
    QWidget::focusOutEvent(event);
    update();
}

void KnobSlider::hideEvent(QHideEvent* event) {
    endDrag();
    endMarking(false);
    QWidget::hideEvent(event);
}

bool KnobSlider::event(QEvent* event) {
    // During a drag Esc cancels it instead of acting on the window.
    if (event->type() == QEvent::ShortcutOverride && (dragging_ || marked_) &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void KnobSlider::keyPressEvent(QKeyEvent* event) {
    if (marked_) {
        if (event->key() == Qt::Key_Escape) endMarking(false);
        return;
    }
    if (dragging_) {
        if (event->key() != Qt::Key_Escape) return;
        moveTo(before_drag_);
        return endDrag();
    }
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Up:
            return commit(stepped(scale_, value_, 1));
        case Qt::Key_Left:
        case Qt::Key_Down:
            return commit(stepped(scale_, value_, -1));
        case Qt::Key_PageUp:
            return commit(paged(scale_, value_, 1));
        case Qt::Key_PageDown:
            return commit(paged(scale_, value_, -1));
        default:  // Home and End too: they show the first and the newest step
            QWidget::keyPressEvent(event);
    }
}

void KnobSlider::wheelEvent(QWheelEvent* event) {
    // Without focus the wheel scrolls the column and must not change a value.
    if (!hasFocus() || dragging_ || marked_) return event->ignore();
    wheel_ += event->angleDelta().y();
    const int notches = wheel_ / kWheelNotch;
    wheel_ -= notches * kWheelNotch;
    if (notches != 0) commit(stepped(scale_, value_, notches));
    event->accept();
}

void KnobSlider::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    const QColor ink = isEnabled() ? palette().color(QPalette::Highlight) : theme.axis;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintTrack(painter);
    if (marked_) paintMarked(painter);
    if (labelled()) paintLabels(painter);
    painter.setPen(QPen(ink, 1.5 * size_));
    painter.setBrush(theme.background);
    for (const double x : stopPlaces())
        painter.drawEllipse(QPointF(x, grooveY()), size_ * kStopRadius, size_ * kStopRadius);
    if (!isThumbShown()) return;
    painter.setPen(QPen(ink, 2 * size_));
    if (hasFocus()) painter.setBrush(ink);
    painter.drawEllipse(thumb(), size_ * (kThumbRadius - 1), size_ * (kThumbRadius - 1));
}

bool KnobSlider::isThumbShown() const {
    return !swept_ || dragging_ || hasFocus() || underMouse();
}

/// Where the rings are drawn: at their values, moved apart as far as they would hide each other.
std::vector<double> KnobSlider::stopPlaces() const {
    const double apart = 2 * kStopRadius * size_;
    std::vector<double> places;
    double first = 0, last = 0;  // of the values
    for (const double stop : stops_) {
        places.push_back(places.empty() ? xOf(stop) : std::max(xOf(stop), places.back() + apart));
        first = places.size() == 1 ? xOf(stop) : first;
        last = xOf(stop);
    }
    if (places.empty()) return places;
    // About the values' middle, and on the track.
    const double moved =
        std::clamp((first + last - places.front() - places.back()) / 2, margin() - places.front(),
                   std::max(margin() - places.front(), width() - margin() - places.back()));
    for (double& place : places) place += moved;
    return places;
}

/// In ink up to the thumb; the detents are ticks below it.
void KnobSlider::paintTrack(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const double y = grooveY(), end = labelled() ? margin() : 1.5;
    const QColor rest = blend(theme.axis, theme.background, 0.5);
    painter.setPen(QPen(theme.axis, 1));
    for (const double detent : scale_.detents) {
        const double x = std::round(xOf(detent)) + 0.5;
        painter.drawLine(QPointF(x, y + 5 * size_), QPointF(x, y + 8 * size_));
    }
    painter.setPen(QPen(rest, 3 * size_, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(end, y), QPointF(width() - end, y));
    if (!isEnabled() || !isThumbShown()) return;
    painter.setPen(QPen(palette().color(QPalette::Highlight), 3 * size_, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(end, y), QPointF(std::max(end, thumb().x()), y));
}

/// The marked range on the track, between two bars.
void KnobSlider::paintMarked(QPainter& painter) const {
    const double from = xOf(marked_->first), to = xOf(marked_->second);
    const double low = std::min(from, to), high = std::max(from, to);
    painter.setPen(QPen(palette().color(QPalette::Text), 3 * size_, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(low, grooveY()), QPointF(high, grooveY()));
    painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
    for (const double x : {low, high})
        painter.drawLine(QPointF(x, grooveY() - 7 * size_), QPointF(x, grooveY() + 7 * size_));
}

/// The values of the target and of the detents that do not touch one already written.
void KnobSlider::paintLabels(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    QFont type = font();
    type.setPixelSize(text_px_);
    QFont strong = type;
    strong.setBold(true);
    std::vector<QRectF> taken;
    const auto write = [&](double value, const QFont& of, const QColor& colour) {
        const QString text = valueText(scale_, value);
        const QFontMetricsF metrics(of);
        const double wide = metrics.horizontalAdvance(text), gap = 0.4 * text_px_;
        const QRectF box(xOf(value) - wide / 2, 18 * size_, wide, metrics.height());
        const QRectF padded = box.adjusted(-gap / 2, 0, gap / 2, 0);
        if (box.left() < 0 || box.right() > width() ||
            std::any_of(taken.begin(), taken.end(),
                        [&](const QRectF& other) { return other.intersects(padded); }))
            return;
        taken.push_back(padded);
        painter.setFont(of);
        painter.setPen(colour);
        painter.drawText(box, Qt::AlignCenter | Qt::TextDontClip, text);
    };
    if (target_) write(*target_, strong, theme.text);
    for (const double detent : scale_.detents) write(detent, type, theme.muted);
}

}  // namespace normscope::widgets
