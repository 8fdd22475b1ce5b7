// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_view.h"

#include "widgets/plots/number_text.h"
#include "widgets/stack/factor_popup.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/sublayer_formula.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QScrollArea>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Kind = StackLayout::Part::Kind;

constexpr double kKeyHeight = 30;  // the colour key under the embedding
constexpr NormPlace kPlaces[] = {NormPlace::In, NormPlace::Out, NormPlace::Post};
constexpr Sublayer kSublayers[] = {Sublayer::Attention, Sublayer::FeedForward};

}  // namespace

StackView::StackView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    rebuild();
}

void StackView::setSpec(const StackSpec& spec) {
    const bool same_shape = spec.depth == spec_.depth && has_final_norm(spec) == has_final_norm(spec_);
    spec_ = spec;
    layer_ = std::min(layer_, spec.depth - 1);
    if (hovered_ >= spec.depth) hovered_ = -1;
    if (same_shape) {
        showChips();
        update();
    } else {
        rebuild();
    }
}

void StackView::setLayerValues(std::vector<double> values, const QString& label) {
    values_ = std::move(values);
    values_label_ = label;
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (double value : values_) {
        if (!std::isfinite(value)) continue;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    log_ = low_ > 0;
    // Values with equal texts have equal colours: otherwise round-off would show as a pattern.
    flat_ = !(high_ > low_) || keyText(low_) == keyText(high_);
    update();
}

QString StackView::keyText(double value) {
    return numberText(value, 3);
}

void StackView::setHoveredLayer(int layer) {
    if (layer >= spec_.depth) layer = -1;
    if (layer == hovered_) return;
    hovered_ = layer;
    update();
}

void StackView::select(int layer, Sublayer kind) {
    layer = std::clamp(layer, 0, spec_.depth - 1);
    if (layer == layer_ && kind == kind_) return;
    const bool moved = layer != layer_;
    layer_ = layer;
    kind_ = kind;
    setAccessibleDescription(sublayerFormula(spec_, layer_, kind_));
    if (moved && spec_.depth > StackLayout::kFullLayers)
        rebuild();
    else
        update();
}

void StackView::pick(int layer, Sublayer kind) {
    const int before = layer_;
    select(layer, kind);
    for (QWidget* up = parentWidget(); up; up = up->parentWidget())
        if (auto* scroll = qobject_cast<QScrollArea*>(up)) {
            const QPoint at = layout_.layerRect(layer_).center().toPoint();
            scroll->ensureVisible(0, mapTo(scroll->widget(), at).y(), 0,
                                  static_cast<int>(2 * StackLayout::kLine));
            break;
        }
    if (layer_ != before) Q_EMIT layerSelected(layer_);
}

void StackView::hover(int layer) {
    if (layer == hovered_) return;
    setHoveredLayer(layer);
    Q_EMIT layerHovered(layer);
}

void StackView::toggle(NormPlace place, bool all_layers) {
    if (!hasPlace(spec_, kind_, place)) return;
    const bool on = hasNorm(sublayer_rule(spec_, layer_, kind_), place);
    Q_EMIT normToggled(layer_, kind_, place, !on, all_layers);
}

NormChip* StackView::chip(int layer, Sublayer kind, NormPlace place) const {
    for (NormChip* chip : chips_)
        if (!chip->isHidden() && chip->layer() == layer && chip->sublayer() == kind && chip->place() == place)
            return chip;
    return nullptr;
}

QSize StackView::sizeHint() const {
    // Of every stack, with values or without: the knobs below do not move.
    return {256, static_cast<int>(std::ceil(StackLayout::kHeight + kKeyHeight))};
}

QSize StackView::minimumSizeHint() const {
    return {240, sizeHint().height()};
}

void StackView::rebuild() {
    layout_ = layoutStack(spec_.depth, layer_, width(), has_final_norm(spec_));
    std::size_t needed = 0;
    for (const auto& part : layout_.parts) needed += part.kind == Kind::Layer ? 6 : 0;
    while (chips_.size() < needed) {
        auto* chip = new NormChip(this);
        connect(chip, &NormChip::toggleRequested, this, [this, chip](bool all_layers) {
            pick(chip->layer(), chip->sublayer());
            toggle(chip->place(), all_layers);
        });
        chips_.push_back(chip);
    }
    for (std::size_t i = needed; i < chips_.size(); ++i) chips_[i]->setVisible(false);
    showChips();
    setAccessibleName(tr("Stack of %n layers", nullptr, spec_.depth));
    updateGeometry();
    update();
}

void StackView::showChips() {
    std::size_t next = 0;
    for (const auto& part : layout_.parts) {
        if (part.kind != Kind::Layer) continue;
        for (Sublayer kind : kSublayers) {
            const SublayerBoxes boxes = sublayerBoxes(sublayerRect(part.rect, kind));
            const SublayerRule rule = sublayer_rule(spec_, part.first, kind);
            const SublayerRule by_scheme = schemeRule(spec_, part.first, kind);
            for (NormPlace place : kPlaces) {
                NormChip* chip = chips_[next++];
                const bool on = hasNorm(rule, place);
                chip->setNorm(part.first, kind, place, on, on != hasNorm(by_scheme, place));
                chip->setGeometry(boxes.chip(place).toRect());
                chip->setVisible(hasPlace(spec_, kind, place));
            }
        }
    }
}

void StackView::resizeEvent(QResizeEvent*) {
    rebuild();
}

QString StackView::tipAt(const QPointF& at) const {
    const int layer = layout_.layerAt(at.y());
    if (layer < 0) return {};
    QString text;
    if (layout_.partOf(layer).kind == Kind::Layer) {
        const Sublayer kind = sublayerAt(layer, at.y());
        const QString name =
            kind == Sublayer::Attention ? tr("Layer %1, attention") : tr("Layer %1, feed-forward");
        text = name.arg(layer + 1) + u'\n' + sublayerFormula(spec_, layer, kind);
    } else {
        text = tr("Layer %1").arg(layer + 1);
    }
    if (static_cast<std::size_t>(layer) < values_.size())
        text += u'\n' + QStringLiteral("%1: %2").arg(values_label_,
                                                     numberText(values_[static_cast<std::size_t>(layer)]));
    return text;
}

bool StackView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);
    return true;
}

void StackView::mousePressEvent(QMouseEvent* event) {
    const int layer = layout_.layerAt(event->position().y());
    if (event->button() != Qt::LeftButton || layer < 0) return;
    pick(layer, sublayerAt(layer, event->position().y()));
}

Sublayer StackView::sublayerAt(int layer, double y) const {
    const bool upper = y < layout_.layerRect(layer).center().y();
    return upper && layout_.partOf(layer).kind == Kind::Layer ? Sublayer::FeedForward : Sublayer::Attention;
}

void StackView::contextMenuEvent(QContextMenuEvent* event) {
    QPoint at = event->globalPos();
    if (event->reason() == QContextMenuEvent::Keyboard) {
        at = mapToGlobal(sublayerRect(layout_.layerRect(layer_), kind_).center().toPoint());
    } else {
        const int layer = layout_.layerAt(event->pos().y());
        if (layer >= 0) pick(layer, sublayerAt(layer, event->pos().y()));
    }
    const bool any = !spec_.layers.empty();
    const bool here = std::any_of(spec_.layers.begin(), spec_.layers.end(),
                                  [this](const LayerOverride& o) { return o.index == layer_; });
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("stackMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Factors a, b…\tA"), this, &StackView::editFactors);
    menu->addSeparator();
    menu->addAction(tr("Reset layer %1\tDel").arg(layer_ + 1), this, [this] { resetOverrides(false); })
        ->setEnabled(here);
    menu->addAction(tr("Reset all overrides\tShift+Del"), this, [this] { resetOverrides(true); })
        ->setEnabled(any);
    menu->addAction(tr("Apply layer %1 to all layers").arg(layer_ + 1), this,
                    [this] {
                        Q_EMIT layersEdited(withLayerEverywhere(spec_, layer_).layers,
                                            tr("layer %1 applied to all layers").arg(layer_ + 1));
                    })
        ->setEnabled(any && spec_.depth > 1);
    menu->popup(at);
}

void StackView::resetOverrides(bool all_layers) {
    const StackSpec reset = withoutOverrides(spec_, all_layers ? -1 : layer_);
    if (reset.layers.size() == spec_.layers.size()) return;  // no overrides there
    Q_EMIT layersEdited(reset.layers,
                        all_layers ? tr("reset all overrides") : tr("reset layer %1").arg(layer_ + 1));
}

void StackView::editFactors() {
    const int layer = layer_;
    const Sublayer kind = kind_;
    const SublayerRule by_scheme = schemeRule(spec_, layer, kind);
    const QString name =
        (kind == Sublayer::Attention ? tr("Layer %1, attention") : tr("Layer %1, feed-forward"))
            .arg(layer + 1);
    auto* popup =
        new FactorPopup(name, overrideOf(spec_, layer, kind), by_scheme, hasShortcut(spec_, kind), this);
    connect(popup, &FactorPopup::committed, this,
            [this, layer, kind, name](std::optional<double> a, std::optional<double> b) {
                Q_EMIT layersEdited(withFactors(spec_, layer, kind, a, b).layers, tr("a, b of %1").arg(name));
            });
    const QRectF line = sublayerRect(layout_.layerRect(layer), kind);
    popup->move(mapToGlobal(line.bottomLeft().toPoint() + QPoint(30, 2)));
    popup->show();
}

void StackView::mouseMoveEvent(QMouseEvent* event) {
    hover(layout_.layerAt(event->position().y()));
}

void StackView::leaveEvent(QEvent*) {
    hover(-1);
}

void StackView::keyPressEvent(QKeyEvent* event) {
    const int last = 2 * spec_.depth - 1;
    const int here = 2 * layer_ + (kind_ == Sublayer::FeedForward ? 1 : 0);
    const auto go = [&](int sublayer) {
        sublayer = std::clamp(sublayer, 0, last);
        pick(sublayer / 2, sublayer % 2 ? Sublayer::FeedForward : Sublayer::Attention);
    };
    const bool all_layers = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Up:
            return go(here + 1);
        case Qt::Key_Down:
            return go(here - 1);
        case Qt::Key_PageUp:
            return go(here + 2);
        case Qt::Key_PageDown:
            return go(here - 2);
        case Qt::Key_Home:
            return go(0);
        case Qt::Key_End:
            return go(last);
        case Qt::Key_I:
            return toggle(NormPlace::In, all_layers);
        case Qt::Key_O:
            return toggle(NormPlace::Out, all_layers);
        case Qt::Key_P:
            return toggle(NormPlace::Post, all_layers);
        case Qt::Key_A:
            return editFactors();
        case Qt::Key_Delete:
        case Qt::Key_Backspace:
            return resetOverrides(all_layers);
        default:
            QWidget::keyPressEvent(event);
    }
}

void StackView::focusInEvent(QFocusEvent*) {
    update();
}
void StackView::focusOutEvent(QFocusEvent*) {
    update();
}

}  // namespace normscope::widgets
