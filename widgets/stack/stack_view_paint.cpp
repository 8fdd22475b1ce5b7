// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/text_size.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/stack_view.h"

#include <QPainter>
#include <optional>

namespace normscope::widgets {
namespace {

constexpr double kStackViewPaintSample = 22, kStackViewPaintGap = 8;  // the line sample in the header
constexpr double kStackViewPaintMax = 12;  // the greatest width of the residual stream
constexpr double kGate = 4;                // half a diamond
constexpr double kStackViewPaintRadius = 4;

/// A neutral colour between the window's and the text's.
QColor shade(const QPalette& palette, double strength) {
    return blend(palette.color(QPalette::Window), themeOf(palette).text, strength);
}

/// Where the gate of a sub-layer is; none where a parallel layer has it at the other one.
std::optional<QPointF> gateOf(const StackSpec& spec, GateSite site, Sublayer kind, const QRectF& row) {
    const SublayerBoxes boxes = sublayerBoxes(row);
    const bool parallel = spec.layout == Layout::Parallel;
    const double y = row.center().y(), residual = boxes.sum.center().x();
    switch (site) {
        case GateSite::Norm:
            return QPointF((boxes.in.right() + boxes.map.left()) / 2, y);
        case GateSite::Branch:
            return QPointF((boxes.out.right() + boxes.scale.left()) / 2, y);
        case GateSite::Shortcut:
        case GateSite::Input:
            if (parallel && kind == Sublayer::FeedForward) return std::nullopt;
            return QPointF(residual, boxes.sum.bottom() + kGate);
        case GateSite::Auto:
        case GateSite::Output:
            break;
    }
    if (parallel && kind == Sublayer::Attention) return std::nullopt;
    return QPointF(residual, row.top() - 1.5);
}

}  // namespace

void StackView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintHeader(painter);
    paintLegend(painter);
    for (int layer = layout_.firstInView(); layer <= layout_.lastInView(); ++layer)
        paintBackground(painter, layer);
    paintResidual(painter);
    paintEnds(painter);
    for (int layer = layout_.firstInView(); layer <= layout_.lastInView(); ++layer)
        for (Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) paintRow(painter, layer, kind);
    if (spec_.gpas.enabled) return;
    for (int layer = layout_.firstInView(); layer < layout_.lastInView(); ++layer)
        paintGate(painter, {layout_.residual(), layout_.layerRect(layer).top() - 1.5}, false);
}

double StackView::subtitleX() const {
    const QFontMetricsF title(sized(font(), 14, QFont::DemiBold));
    return title.horizontalAdvance(tr("Stack")) + kStackViewPaintGap +
           (ribbon() ? kStackViewPaintSample + kStackViewPaintGap : 0);
}

void StackView::paintHeader(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QRectF header = layout_.header();
    painter.setPen(theme.text);
    painter.setFont(sized(font(), 14, QFont::DemiBold));
    painter.drawText(header, Qt::AlignLeft | Qt::AlignVCenter, tr("Stack"));
    const double left = subtitleX(), middle = header.center().y();
    if (const Ribbon* run = ribbon()) {
        QPen line(theme.run(run->index), 3);
        if (const auto dash = runDash(run->index); !dash.isEmpty()) line.setDashPattern(dash);
        line.setCapStyle(Qt::FlatCap);
        painter.setPen(line);
        painter.drawLine(QPointF(left - kStackViewPaintGap - kStackViewPaintSample, middle),
                         QPointF(left - kStackViewPaintGap, middle));
    }
    painter.setPen(theme.muted);
    painter.setFont(sized(font(), 11));
    painter.drawText(header.adjusted(left, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, subtitle());
}

void StackView::paintLegend(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QRectF legend = layout_.legend();
    painter.setFont(sized(font(), 11));
    painter.setPen(theme.muted);
    painter.drawText(legend, Qt::AlignLeft | Qt::AlignVCenter, tr("Line width: ‖∂L/∂h‖, log"));
    const QFontMetricsF metrics(painter.font());
    const QString most = QStringLiteral("1"), least = powerText(QStringLiteral("1e-4"));
    painter.drawText(legend, Qt::AlignRight | Qt::AlignVCenter, most);
    constexpr double kWedge = 44;
    const double right = legend.right() - metrics.horizontalAdvance(most) - kStackViewPaintGap,
                 y = legend.center().y();
    painter.drawText(legend.adjusted(0, 0, right - kWedge - kStackViewPaintGap - legend.right(), 0),
                     Qt::AlignRight | Qt::AlignVCenter, least);
    const QPointF wedge[] = {{right - kWedge, y - 0.5},
                             {right, y - kStackViewPaintMax / 2},
                             {right, y + kStackViewPaintMax / 2},
                             {right - kWedge, y + 0.5}};
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.axis);
    painter.drawPolygon(wedge, 4);
    painter.setPen(QPen(shade(palette(), 0.12), 1));
    painter.drawLine(QPointF(0, legend.bottom() - 0.5), QPointF(legend.right(), legend.bottom() - 0.5));
}

/// The stream is drawn also where its gradient was not measured.
void StackView::paintResidual(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const double x = layout_.residual();
    const double top = layout_.headInView() ? layout_.head().bottom() : layout_.view().top() - 2;
    const double bottom = layout_.embeddingInView() ? layout_.embedding().top() : layout_.view().bottom();
    painter.setPen(QPen(theme.axis, 1));
    painter.drawLine(QPointF(x, top), QPointF(x, bottom));
    const Ribbon* run = ribbon();
    if (!run || run->depth() != spec_.depth) return;
    painter.save();
    painter.setClipRect(QRectF(x - kStackViewPaintMax, top, 2 * kStackViewPaintMax, bottom - top));
    const auto y = [this](int state) {
        return state == 0                   ? layout_.embedding().top()
               : state == 2 * layout_.depth ? layout_.head().bottom()
                                            : layout_.y(state);
    };
    painter.fillPath(ribbonShape(run->gradient, x, kStackViewPaintMax, y), theme.run(run->index));
    painter.restore();
}

void StackView::paintBox(QPainter& painter, const QRectF& box, const QString& text) const {
    const Theme theme = themeOf(palette());
    painter.setPen(QPen(shade(palette(), 0.25), 1));
    painter.setBrush(theme.background);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), kStackViewPaintRadius, kStackViewPaintRadius);
    painter.setPen(theme.text);
    painter.setFont(sized(font(), 11));
    painter.drawText(box, Qt::AlignCenter, text);
}

void StackView::paintEnds(QPainter& painter) const {
    if (layout_.embeddingInView())
        paintBox(painter, layout_.embedding(),
                 spec_.embedding_norm ? tr("embedding + norm") : tr("embedding"));
    if (!layout_.headInView()) return;
    const HeadBoxes boxes = headBoxes(layout_.head(), has_final_norm(spec_));
    paintBox(painter, boxes.head, spec_.tied_head ? tr("head (tied)") : tr("head"));
    if (boxes.norm.isNull()) return;
    paintBox(painter, boxes.norm, tr("final norm"));
    painter.setPen(QPen(themeOf(palette()).axis, 1));
    const double y = boxes.head.center().y();
    painter.drawLine(QPointF(boxes.head.right(), y), QPointF(boxes.norm.left(), y));
}

/// Marks the hovered layer and the selected sub-layer, divides layers, and numbers them.
void StackView::paintBackground(QPainter& painter, int layer) const {
    const Theme theme = themeOf(palette());
    const QRectF rect = layout_.layerRect(layer).adjusted(2, 0, 0, 0);
    if (layer == hovered_) painter.fillRect(rect.adjusted(0, 1, 0, -1), shade(palette(), 0.05));
    if (layer < layout_.lastInView()) {
        painter.setPen(QPen(shade(palette(), 0.12), 1));
        painter.drawLine(rect.topLeft() - QPointF(0, 1.5), rect.topRight() - QPointF(0, 1.5));
    }
    if (layer == layer_) {
        const QRectF row = sublayerRect(rect, kind_).adjusted(0, 1, 0, -1);
        painter.setPen(hasFocus() ? QPen(theme.text, 2) : QPen(Qt::NoPen));
        painter.setBrush(shade(palette(), 0.08));
        painter.drawRoundedRect(hasFocus() ? row.adjusted(1, 1, -1, -1) : row, kStackViewPaintRadius,
                                kStackViewPaintRadius);
    }
    painter.setPen(layer == layer_ ? theme.text : theme.muted);
    painter.setFont(sized(font(), 11, layer == layer_ ? QFont::DemiBold : QFont::Normal));
    painter.drawText(sublayerBoxes(sublayerRect(layout_.layerRect(layer), Sublayer::Attention)).number,
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, QString::number(layer + 1));
}

void StackView::paintRow(QPainter& painter, int layer, Sublayer kind) const {
    const Theme theme = themeOf(palette());
    const QColor solid = palette().color(QPalette::Highlight);
    const QRectF row = sublayerRect(layout_.layerRect(layer), kind);
    const SublayerBoxes boxes = sublayerBoxes(row);
    const SublayerRule rule = sublayer_rule(spec_, layer, kind);
    const double y = row.center().y();
    painter.setPen(QPen(theme.axis, 1));
    const QRectF parts[] = {boxes.in, boxes.map, boxes.out, boxes.scale, boxes.sum};
    for (std::size_t i = 1; i < std::size(parts); ++i)
        painter.drawLine(QPointF(parts[i - 1].right(), y), QPointF(parts[i].left(), y));
    paintBox(painter, boxes.map, kind == Sublayer::Attention ? tr("attention") : tr("FFN"));

    const bool scaled = spec_.branch_scale != BranchScale::None;
    painter.setPen(scaled ? QPen(solid, 1) : absentPen(theme.axis));
    painter.setBrush(scaled ? QBrush(solid) : QBrush(Qt::NoBrush));
    painter.drawEllipse(boxes.scale);
    painter.setPen(scaled ? textOn(solid) : theme.muted);
    painter.setFont(sized(font(), 11));
    painter.drawText(boxes.scale, Qt::AlignCenter, QStringLiteral("λ"));

    // A post norm acts on the sum: a bar across the stream.
    if (rule.post && hasPlace(spec_, kind, NormPlace::Post))
        painter.fillRect(QRectF(boxes.sum.center().x() - 10, boxes.sum.top() - 5, 20, 3.5), solid);
    const RuleOverride manual = overrideOf(spec_, layer, kind);
    painter.setPen(QPen(theme.text, manual.a || manual.b ? 2 : 1));
    painter.setBrush(theme.background);
    painter.drawEllipse(boxes.sum.adjusted(0.5, 0.5, -0.5, -0.5));
    paintGlyph(painter, boxes.sum.adjusted(1.5, 1.5, -1.5, -1.5), Glyph::Plus, theme.text);

    if (spec_.gpas.enabled)
        if (const auto gate = gateOf(spec_, rule.gate, kind, row)) paintGate(painter, *gate, true);
}

void StackView::paintGate(QPainter& painter, const QPointF& at, bool on) const {
    const QPointF corners[] = {at + QPointF(0, -kGate), at + QPointF(kGate, 0), at + QPointF(0, kGate),
                               at + QPointF(-kGate, 0)};
    const Theme theme = themeOf(palette());
    painter.setPen(QPen(on ? theme.background : theme.axis, 1));
    painter.setBrush(on ? palette().color(QPalette::Highlight) : theme.background);
    painter.drawPolygon(corners, 4);
}

}  // namespace normscope::widgets
