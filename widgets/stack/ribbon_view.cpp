// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/ribbon_view.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kLabels = 24;                      // left of the ribbons
constexpr double kEnds = 8, kFoot = 10;             // above the last layer, below the embedding
constexpr double kPitch = 19, kRibbonViewMax = 15;  // of a ribbon, and its greatest width
constexpr double kBeyond = 5;                       // of the frame, where it has an end of the stack
constexpr double kMinFrame = 10;
constexpr double kLighter = 0.6;
constexpr double kLabelsApart = 20;

}  // namespace

RibbonView::RibbonView(QWidget* parent) : QWidget(parent) {
    setAccessibleRole(this, QAccessible::Chart);
    setMouseTracking(true);
    setCursor(Qt::SizeVerCursor);
    QFont small = font();
    small.setPixelSize(11);
    setFont(small);
    setAccessibleName(tr("Gradient through all layers"));
}

void RibbonView::setDepth(int depth) {
    if (depth == depth_) return;
    depth_ = depth;
    update();
}

void RibbonView::setRibbons(const std::vector<Ribbon>& ribbons, std::size_t selected) {
    if (selected == selected_ && ribbons == ribbons_) return;
    ribbons_ = ribbons;
    selected_ = selected;
    QStringList parts;
    for (const Ribbon& ribbon : ribbons_)
        if (ribbon.depth() > 0)
            parts << tr("%1 at step %2: ‖∂L/∂h‖ %3 at the embedding, %4 after layer %5")
                         .arg(ribbon.name)
                         .arg(ribbon.step)
                         .arg(numberText(ribbon.gradient.front()), numberText(ribbon.gradient.back()))
                         .arg(ribbon.depth());
    setAccessibleDescription(parts.join(QStringLiteral("; ")));
    update();
}

void RibbonView::setInView(int first, int last) {
    if (first == first_ && last == last_) return;
    first_ = first;
    last_ = last;
    update();
}

void RibbonView::setHoveredLayer(int layer) {
    if (layer == hovered_) return;
    hovered_ = layer;
    update();
}

int RibbonView::depth() const {
    int deepest = depth_;
    for (const Ribbon& ribbon : ribbons_) deepest = std::max(deepest, ribbon.depth());
    return deepest;
}

std::vector<std::size_t> RibbonView::shown() const {
    const auto space = std::max<std::size_t>(1, static_cast<std::size_t>(area().width() / kPitch));
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < std::min(space, ribbons_.size()); ++i) shown.push_back(i);
    if (!shown.empty() && selected_ >= shown.size() && selected_ < ribbons_.size()) shown.back() = selected_;
    return shown;
}

QRectF RibbonView::area() const {
    return QRectF(rect()).adjusted(kLabels + 2, kEnds, 0, -kFoot);
}

double RibbonView::column(std::size_t place) const {
    const double pitch = area().width() / static_cast<double>(std::max<std::size_t>(1, shown().size()));
    return area().left() + (static_cast<double>(place) + 0.5) * pitch;
}

double RibbonView::y(double layer) const {
    return area().bottom() - area().height() * layer / depth();
}

double RibbonView::layerAt(double y) const {
    return (area().bottom() - y) / area().height() * depth();
}

int RibbonView::outputAt(double y) const {
    return std::clamp(static_cast<int>(std::lround(layerAt(y))), 0, depth()) - 1;
}

QRectF RibbonView::frame() const {
    const double top = y(last_ + 1) - (last_ + 1 == depth() ? kBeyond : 0);
    const double bottom = y(first_) + (first_ == 0 ? kBeyond : 0);
    const double more = std::max(0.0, kMinFrame - (bottom - top)) / 2;
    return {area().left(), top - more, area().width(), bottom - top + 2 * more};
}

QString RibbonView::tipAt(double y) const {
    const int layer = outputAt(y);
    QStringList lines{layer < 0 ? tr("‖∂L/∂h‖ at the embedding")
                                : tr("‖∂L/∂h‖ after layer %1").arg(layer + 1)};
    for (const Ribbon& ribbon : ribbons_) {
        const auto state = static_cast<std::size_t>(2 * (layer + 1));
        if (state < ribbon.gradient.size())
            lines << (ribbon.runs > 1 ? tr("%1, median: %2, step %3") : tr("%1: %2, step %3"))
                         .arg(ribbon.name, numberText(ribbon.gradient[state]))
                         .arg(ribbon.step);
        else if (ribbon.depth() == 0)
            lines << tr("%1: not measured at this step").arg(ribbon.name);
    }
    return lines.join(u'\n');
}

bool RibbonView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tipAt(help->pos().y()), this);
    return true;
}

void RibbonView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    const double at = event->position().y(), layer = layerAt(at);
    dragged_ = true;
    // Next to the frame, it jumps so that its middle is at the pointer.
    const bool inside = frame().top() <= at && at <= frame().bottom();
    grip_ = inside ? layer - first_ : (last_ + 1 - first_) / 2.0;
    if (!inside) Q_EMIT firstAsked(layer - grip_);
}

void RibbonView::mouseMoveEvent(QMouseEvent* event) {
    const double at = event->position().y();
    if (dragged_) return Q_EMIT firstAsked(layerAt(at) - grip_);
    Q_EMIT layerHovered(outputAt(at));
}

void RibbonView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) dragged_ = false;
}

void RibbonView::leaveEvent(QEvent*) {
    Q_EMIT layerHovered(-1);
}

void RibbonView::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    const QColor window = palette().color(QPalette::Window);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.axis, 1));
    painter.setBrush(blend(window, theme.text, 0.1));
    painter.drawRoundedRect(frame().adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);

    const std::vector<std::size_t> visible = shown();
    for (std::size_t place = 0; place < visible.size(); ++place) {
        const Ribbon& ribbon = ribbons_[visible[place]];
        const double x = column(place);
        if (ribbon.depth() == 0) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(theme.axis, 1));
            painter.drawRect(QRectF(x - kRibbonViewMax / 2, y(depth()), kRibbonViewMax, y(0) - y(depth())));
            continue;
        }
        QColor colour = theme.run(ribbon.index);
        if (visible[place] != selected_) colour.setAlphaF(kLighter);
        if (ribbon.aged) colour.setAlphaF(colour.alphaF() * static_cast<float>(kAgedStrength));
        painter.fillPath(
            ribbonShape(ribbon.gradient, x, kRibbonViewMax, [this](int k) { return y(k / 2.0); }), colour);
    }
    if (hovered_ >= 0 && hovered_ < depth()) {
        painter.setPen(QPen(theme.text, 1.5, Qt::DotLine));
        painter.drawLine(QPointF(area().left() - 1, y(hovered_ + 1)), QPointF(width(), y(hovered_ + 1)));
    }
    paintLabels(painter);
}

void RibbonView::paintLabels(QPainter& painter) const {
    painter.setPen(themeOf(palette()).muted);
    const auto label = [&](double y, const QString& text) {
        // Right-aligned; a number too long for its column starts at the left edge.
        const double wide = painter.fontMetrics().horizontalAdvance(text) + 1;
        const QRectF box(std::max(0.0, kLabels - 2 - wide), y - 8, wide, 16);
        painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, text);
    };
    label(y(0), tr("emb"));
    for (const int layer : labelledLayers(depth(), area().height(), kLabelsApart))
        label(y(layer), QString::number(layer));
}

}  // namespace normscope::widgets
