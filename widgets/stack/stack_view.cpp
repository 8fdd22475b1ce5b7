// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_view.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/stack/sublayer_formula.h"
#include "widgets/plots/glyph.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/ribbon_view.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr NormPlace kPlaces[] = {NormPlace::In, NormPlace::Out, NormPlace::Post};
constexpr Sublayer kSublayers[] = {Sublayer::Attention, Sublayer::FeedForward};
constexpr int kStackViewButton = 24;

}  // namespace

StackView::StackView(QWidget* parent)
    : QWidget(parent),
      ribbon_view_(new RibbonView(this)),
      menu_button_(new GlyphButton(Glyph::More, tr("Stack menu"), this)) {
    setAccessibleRole(this, QAccessible::Graphic);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    menu_button_->setObjectName(QStringLiteral("stackMenuButton"));
    connect(menu_button_, &QAbstractButton::clicked, this,
            [this] { openMenu(menu_button_->mapToGlobal(QPoint(0, kStackViewButton))); });
    connect(ribbon_view_, &RibbonView::layerHovered, this, &StackView::hover);
    connect(ribbon_view_, &RibbonView::firstAsked, this,
            [this](double layer) { scrollTo(static_cast<int>(std::lround(layer))); });
    ribbon_view_->setDepth(spec_.depth);
    arrange();
    describe();
}

void StackView::setSpec(const StackSpec& spec) {
    if (spec == spec_) return;
    spec_ = spec;
    layer_ = std::min(layer_, spec.depth - 1);
    if (hovered_ >= spec.depth) setHoveredLayer(-1);
    ribbon_view_->setDepth(spec.depth);
    arrange();
    describe();
}

void StackView::setRibbons(const std::vector<Ribbon>& ribbons, std::size_t selected) {
    if (selected == selected_ribbon_ && ribbons == ribbons_) return;
    ribbons_ = ribbons;
    selected_ribbon_ = selected;
    ribbon_view_->setRibbons(ribbons, selected);
    describe();
    update();
}

const Ribbon* StackView::ribbon() const {
    return selected_ribbon_ < ribbons_.size() ? &ribbons_[selected_ribbon_] : nullptr;
}

void StackView::setHoveredLayer(int layer) {
    if (layer == hovered_) return;
    hovered_ = layer;
    ribbon_view_->setHoveredLayer(layer);
    update();
}

void StackView::select(int layer, Sublayer kind) {
    layer = std::clamp(layer, 0, spec_.depth - 1);
    if (layer == layer_ && kind == kind_) return;
    layer_ = layer;
    kind_ = kind;
    describe();
    reveal();
    update();
}

void StackView::pick(int layer, Sublayer kind) {
    const int before = layer_;
    select(layer, kind);
    if (layer_ != before) Q_EMIT layerSelected(layer_);
}

/// Selects a sub-layer, counted from 0, in view: at the ends with the embedding or the head.
void StackView::goTo(int sublayer) {
    sublayer = std::clamp(sublayer, 0, 2 * spec_.depth - 1);
    pick(sublayer / 2, sublayer % 2 ? Sublayer::FeedForward : Sublayer::Attention);
    reveal();
    if (layer_ == 0) scrollTo(0);
    if (layer_ == spec_.depth - 1) scrollTo(StackLayout::lastScroll(spec_.depth));
}

/// Scrolls the selected layer into view where it is not.
void StackView::reveal() {
    scrollTo(layout_.scrollTo(layer_));
}

void StackView::scrollTo(int layers) {
    if (std::clamp(layers, 0, StackLayout::lastScroll(spec_.depth)) == layout_.scroll) return;
    layout_.scroll = layers;
    arrange();
}

void StackView::hover(int layer) {
    if (layer == hovered_) return;
    setHoveredLayer(layer);
    Q_EMIT layerHovered(layer);
}

void StackView::toggle(NormPlace place, bool all_layers) {
    if (!hasPlace(spec_, kind_, place)) return;
    reveal();
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
    return {static_cast<int>(StackLayout::kMinWidth), static_cast<int>(StackLayout::kHeight)};
}

QSize StackView::minimumSizeHint() const {
    return sizeHint();
}

/// Places everything again for another depth, scroll position or width.
void StackView::arrange() {
    layout_ = layoutStack(spec_.depth, layout_.scroll, width());
    ribbon_view_->setGeometry(layout_.ribbons().toRect());
    ribbon_view_->setInView(layout_.firstInView(), layout_.lastInView());
    const QRectF header = layout_.header();
    menu_button_->setGeometry(static_cast<int>(layout_.view().right()) - kStackViewButton,
                              static_cast<int>(header.center().y()) - kStackViewButton / 2, kStackViewButton,
                              kStackViewButton);
    const auto layers = static_cast<std::size_t>(layout_.lastInView() - layout_.firstInView() + 1);
    while (chips_.size() < 6 * layers) {
        auto* chip = new NormChip(this);
        connect(chip, &NormChip::toggleRequested, this, [this, chip](bool all_layers) {
            pick(chip->layer(), chip->sublayer());
            toggle(chip->place(), all_layers);
        });
        chips_.push_back(chip);
    }
    for (std::size_t i = 6 * layers; i < chips_.size(); ++i) chips_[i]->setVisible(false);
    showChips();
    setAccessibleName(tr("Stack of %n layers", nullptr, spec_.depth));
    update();
}

void StackView::showChips() {
    std::size_t next = 0;
    for (int layer = layout_.firstInView(); layer <= layout_.lastInView(); ++layer) {
        for (Sublayer kind : kSublayers) {
            const SublayerBoxes boxes = sublayerBoxes(sublayerRect(layout_.layerRect(layer), kind));
            const SublayerRule rule = sublayer_rule(spec_, layer, kind);
            const SublayerRule by_scheme = schemeRule(spec_, layer, kind);
            for (NormPlace place : kPlaces) {
                NormChip* chip = chips_[next++];
                const bool on = hasNorm(rule, place);
                chip->setNorm(layer, kind, place, on, on != hasNorm(by_scheme, place));
                chip->setGeometry(boxes.chip(place).toRect());
                chip->setVisible(hasPlace(spec_, kind, place));
            }
        }
    }
}

void StackView::describe() {
    setAccessibleDescription(textOf(layer_, kind_));
}

QString StackView::nameOf(int layer, Sublayer kind) {
    return (kind == Sublayer::Attention ? tr("Layer %1, attention") : tr("Layer %1, feed-forward"))
        .arg(layer + 1);
}

QString StackView::textOf(int layer, Sublayer kind) const {
    QString text = nameOf(layer, kind) + u'\n' + sublayerFormula(spec_, layer, kind);
    const auto before = static_cast<std::size_t>(2 * layer + (kind == Sublayer::FeedForward ? 1 : 0));
    const Ribbon* run = ribbon();
    if (run && before + 1 < run->gradient.size())
        text += u'\n' + (run->runs > 1 ? tr("‖∂L/∂h‖ of %1, median, step %2: %3 before, %4 after")
                                       : tr("‖∂L/∂h‖ of %1, step %2: %3 before, %4 after"))
                            .arg(run->name)
                            .arg(run->step)
                            .arg(numberText(run->gradient[before]), numberText(run->gradient[before + 1]));
    return text;
}

QString StackView::subtitle() const {
    QString kind = tr("%n layers", nullptr, spec_.depth);
    if (const Ribbon* run = ribbon()) {
        if (run->runs > 1) kind = tr("median");
        QFont small = font();
        small.setPixelSize(11);
        const QFontMetricsF metrics(small);
        const double space = menu_button_->x() - subtitleX();
        for (const QString& text : {run->name + QStringLiteral(", ") + kind, run->name})
            if (metrics.horizontalAdvance(text) <= space) return text;
    }
    return kind;
}

void StackView::resizeEvent(QResizeEvent*) {
    arrange();
}

}  // namespace normscope::widgets
