// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/colour_map.h"
#include "widgets/plots/number_text.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/stack/stack_view.h"

#include <QLinearGradient>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Kind = StackLayout::Part::Kind;

constexpr double kStrip = 6;

QFont sized(QFont font, int pixels) {
    font.setPixelSize(pixels);
    return font;
}

}  // namespace

QColor StackView::layerColour(int layer) const {
    if (layer < 0 || static_cast<std::size_t>(layer) >= values_.size()) return {};
    const double value = values_[static_cast<std::size_t>(layer)];
    if (std::isnan(value)) return themeOf(palette()).bad;
    if (std::isinf(value)) return cividis(value > 0 ? 1 : 0);
    if (flat_) return cividis(0.5);
    return cividis(log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_));
}

void StackView::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);

    // The residual stream runs through every sum.
    const QRectF line(layout_.parts.front().rect.topLeft(),
                      QSizeF(layout_.parts.front().rect.width(), StackLayout::kLine));
    const double x = sublayerBoxes(line).sum.center().x();
    painter.setPen(QPen(theme.axis, 2));
    painter.drawLine(QPointF(x, layout_.parts.front().rect.bottom()),
                     QPointF(x, layout_.parts.back().rect.top()));

    for (const auto& part : layout_.parts) {
        switch (part.kind) {
            case Kind::Head:
                paintEnd(painter, part.rect, spec_.tied_head ? tr("head (tied)") : tr("head"));
                break;
            case Kind::FinalNorm:
                paintEnd(painter, part.rect, tr("final norm"));
                break;
            case Kind::Embedding:
                paintEnd(painter, part.rect, spec_.embedding_norm ? tr("embedding + norm") : tr("embedding"));
                break;
            case Kind::Layer:
                paintLayer(painter, part.first);
                break;
            case Kind::Thin:
                paintThin(painter, part);
                break;
        }
    }
    if (!values_.empty()) paintKey(painter);
}

void StackView::paintEnd(QPainter& painter, const QRectF& rect, const QString& text) const {
    const Theme theme = themeOf(palette());
    const QRectF box = rect.adjusted(32, 0.5, 0, -0.5);
    painter.setPen(QPen(theme.axis, 1));
    painter.setBrush(theme.background);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(theme.text);
    painter.setFont(sized(font(), 11));
    painter.drawText(box, Qt::AlignCenter, text);
}

void StackView::paintLayer(QPainter& painter, int layer) const {
    const Theme theme = themeOf(palette());
    const QRectF rect = layout_.layerRect(layer);
    if (layer == hovered_) painter.fillRect(rect, blend(theme.background, theme.text, 0.10));
    if (const QColor colour = layerColour(layer); colour.isValid())
        painter.fillRect(QRectF(rect.left(), rect.top(), kStrip, rect.height()), colour);
    painter.setPen(layer == layer_ ? theme.text : theme.muted);
    painter.setFont(sized(font(), 11));
    painter.drawText(QRectF(rect.left() + kStrip, rect.top(), 25, rect.height()), Qt::AlignCenter,
                     QString::number(layer + 1));

    for (Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) {
        const QRectF line = sublayerRect(rect, kind);
        const SublayerBoxes boxes = sublayerBoxes(line);
        const double y = line.center().y();
        painter.setPen(QPen(theme.axis, 1));
        painter.drawLine(QPointF(boxes.in.left(), y), QPointF(boxes.sum.left(), y));
        painter.drawLine(QPointF(boxes.sum.right(), y), QPointF(boxes.post.left(), y));

        painter.setBrush(blend(theme.background, theme.text, 0.06));
        painter.drawRoundedRect(boxes.map.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
        painter.setBrush(theme.background);
        QRectF circle(0, 0, 13, 13);
        circle.moveCenter(boxes.sum.center());
        const RuleOverride by_hand = overrideOf(spec_, layer, kind);
        if (by_hand.a || by_hand.b) painter.setPen(QPen(theme.text, 2));
        painter.drawEllipse(circle);
        painter.setPen(QPen(theme.text, 1));
        const QPointF c = circle.center();
        painter.drawLine(c - QPointF(3, 0), c + QPointF(3, 0));
        painter.drawLine(c - QPointF(0, 3), c + QPointF(0, 3));
        painter.drawText(boxes.map, Qt::AlignCenter,
                         kind == Sublayer::Attention ? tr("attention") : tr("FFN"));

        if (layer == layer_ && kind == kind_) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(hasFocus() ? theme.text : theme.muted, hasFocus() ? 1.5 : 1));
            painter.drawRoundedRect(line.adjusted(28.5, 0.5, 3.5, -0.5), 4, 4);
        }
    }
}

void StackView::paintThin(QPainter& painter, const StackLayout::Part& part) const {
    const Theme theme = themeOf(palette());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    const double left = part.rect.left(), right = part.rect.right();
    // Rows that share a pixel are drawn as the largest of them (NaN before all), so that every bad layer is
    // visible.
    const int step = layout_.thin < 2 ? static_cast<int>(std::ceil(2 / layout_.thin)) : 1;
    for (int last = part.last; last >= part.first; last -= step) {
        const int first = std::max(part.first, last - step + 1);
        int shown = first;
        for (int layer = first; layer <= last && static_cast<std::size_t>(layer) < values_.size(); ++layer) {
            const double value = values_[static_cast<std::size_t>(layer)];
            const double best = values_[static_cast<std::size_t>(shown)];
            if (std::isnan(value) || (!std::isnan(best) && value > best)) shown = layer;
        }
        const double top = part.rect.top() + (part.last - last) * layout_.thin;
        const double height = (last - first + 1) * layout_.thin - (layout_.thin > 3 ? 1 : 0);
        const QColor colour = layerColour(shown);
        painter.fillRect(QRectF(left, top, right - left, height), colour.isValid() ? colour : theme.neutral);
        // Overrides are marked also where the chips are not shown.
        if (std::any_of(spec_.layers.begin(), spec_.layers.end(),
                        [&](const LayerOverride& o) { return o.index >= first && o.index <= last; }))
            painter.fillRect(QRectF(right - 8, top, 8, height), theme.text);
    }
    if (hovered_ >= part.first && hovered_ <= part.last) {
        painter.setPen(QPen(theme.text, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(layout_.layerRect(hovered_).adjusted(0, -1, -1, -1));
    }
    painter.restore();
}

void StackView::paintKey(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QRectF end = layout_.parts.back().rect;
    const QRectF bar(end.left(), layout_.height + 4, end.width(), 6);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    for (int i = 0; i <= 10; ++i) gradient.setColorAt(i / 10.0, cividis(i / 10.0));
    painter.fillRect(bar, gradient);
    painter.setFont(sized(font(), 11));
    painter.setPen(theme.muted);
    const QRectF text = bar.translated(0, 8).adjusted(0, 0, 0, 10);
    if (high_ < low_) {  // not one finite value
        painter.drawText(text, Qt::AlignCenter, tr("%1: no finite value").arg(values_label_));
        return;
    }
    const QString low = keyText(low_), high = keyText(high_);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, low);
    painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, high);
    const double ends = painter.fontMetrics().horizontalAdvance(low + high) + 24;
    const QString name = painter.fontMetrics().elidedText(values_label_, Qt::ElideRight,
                                                          static_cast<int>(text.width() - ends));
    painter.drawText(text, Qt::AlignCenter, name);
}

}  // namespace normscope::widgets
