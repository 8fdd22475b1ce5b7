// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the stack view that handles mouse, keyboard and menu.
#include "widgets/stack/factor_popup.h"
#include "widgets/stack/stack_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>

namespace normscope::widgets {

bool StackView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int layer = layout_.layerAt(help->pos().y());
    QToolTip::showText(help->globalPos(),
                       layer < 0 ? QString() : textOf(layer, sublayerAt(layer, help->pos().y())), this);
    return true;
}

void StackView::mousePressEvent(QMouseEvent* event) {
    const int layer = layout_.layerAt(event->position().y());
    if (event->button() != Qt::LeftButton || layer < 0) return;
    pick(layer, sublayerAt(layer, event->position().y()));
}

void StackView::mouseMoveEvent(QMouseEvent* event) {
    hover(layout_.layerAt(event->position().y()));
}

void StackView::leaveEvent(QEvent*) {
    hover(-1);
}

void StackView::wheelEvent(QWheelEvent* event) {
    constexpr int kNotch = 120;
    wheel_ += event->angleDelta().y();
    scrollTo(layout_.scroll + wheel_ / kNotch);
    wheel_ %= kNotch;
    event->accept();
}

Sublayer StackView::sublayerAt(int layer, double y) const {
    return y < layout_.layerRect(layer).center().y() ? Sublayer::FeedForward : Sublayer::Attention;
}

void StackView::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Keyboard) {
        reveal();
        return openMenu(mapToGlobal(sublayerRect(layout_.layerRect(layer_), kind_).center().toPoint()));
    }
    const int layer = layout_.layerAt(event->pos().y());
    if (layer >= 0) pick(layer, sublayerAt(layer, event->pos().y()));
    openMenu(event->globalPos());
}

/// Of the selected sub-layer.

void StackView::openMenu(const QPoint& at) {
    reveal();
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
    reveal();
    const StackSpec reset = withoutOverrides(spec_, all_layers ? -1 : layer_);
    if (reset.layers.size() == spec_.layers.size()) return;  // no overrides there
    Q_EMIT layersEdited(reset.layers,
                        all_layers ? tr("reset all overrides") : tr("reset layer %1").arg(layer_ + 1));
}

void StackView::editFactors() {
    const int layer = layer_;
    const Sublayer kind = kind_;
    const SublayerRule by_scheme = schemeRule(spec_, layer, kind);
    const QString name = nameOf(layer, kind);
    reveal();
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

void StackView::keyPressEvent(QKeyEvent* event) {
    const int here = 2 * layer_ + (kind_ == Sublayer::FeedForward ? 1 : 0);
    const bool all_layers = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Up:
            return goTo(here + 1);
        case Qt::Key_Down:
            return goTo(here - 1);
        case Qt::Key_PageUp:
            return goTo(here + 2);
        case Qt::Key_PageDown:
            return goTo(here - 2);
        case Qt::Key_Home:
            return goTo(0);
        case Qt::Key_End:
            return goTo(2 * spec_.depth - 1);
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
