// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panel_grid.h"

#include "widgets/figures/panels/panel_registry.h"

#include <QGridLayout>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

/// The order of the cells: the first four form the 2 × 2 grid and stay together in the 3 × 2 one.
constexpr const char* kPanels[] = {"growth", "gradients", "jacobian", "training", "null_space", "theta"};
constexpr int kBasicLeft = 1, kBasicRight = 3;  // of these

bool sharesX(const Figure& a, const Figure& b) {
    return !a.plots.empty() && !b.plots.empty() && a.plots.front().maps.empty() &&
           b.plots.front().maps.empty() && a.plots.front().x.label == b.plots.front().x.label;
}

bool overDepth(const Figure& figure) {
    return !figure.plots.empty() && figure.plots.front().maps.empty() &&
           figure.plots.front().x.label == QLatin1String("layer");
}

}  // namespace

PanelGrid::PanelGrid(const FigureSource& source, QWidget* parent) : QWidget(parent) {
    for (const char* panel : kPanels) {
        auto* cell = new PanelCell(source, panel, this);
        cell->setObjectName(QStringLiteral("cell%1").arg(cells_.size()));
        const int index = static_cast<int>(cells_.size());
        cells_.push_back(cell);
        cell->plot()->setResizedLater([this, plot = cell->plot()] { resized_.add(plot); });
        connect(cell, &PanelCell::panelChanged, this, &PanelGrid::shownProbesChanged);
        connect(cell, &PanelCell::layerPicked, this, &PanelGrid::layerPicked);
        connect(cell, &PanelCell::stepPicked, this, &PanelGrid::stepPicked);
        connect(cell, &PanelCell::measureRequested, this, &PanelGrid::measureRequested);
        connect(cell, &PanelCell::focusRequested, this,
                [this, index] { focusCell(focused_ == index ? -1 : index); });
        connect(cell, &PanelCell::helpRequested, this, [this, cell] { Q_EMIT helpRequested(cell); });
        connect(cell, &PanelCell::exportRequested, this, [this, cell] { Q_EMIT exportRequested(cell); });
        connect(cell, &PanelCell::csvRequested, this, [this, cell] { Q_EMIT csvRequested(cell); });
        connect(cell, &PanelCell::copyRequested, this, [this, cell] { Q_EMIT copyRequested(cell); });
        connect(cell->plot(), &PlotView::hovered, this, [this, cell](const HoverPoint& point) {
            shareCrosshair(cell, std::isnan(point.x) ? std::nullopt : std::optional(point.x));
        });
        connect(cell->plot(), &PlotView::left, this, [this, cell] { shareCrosshair(cell, std::nullopt); });
    }
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(1);
    arrange();
}

void PanelGrid::refresh(const QStringList& panels) {
    for (PanelCell* cell : cells_)
        if (drawsAny(panelInfo(cell->panel()), panels)) cell->refresh();
}

void PanelGrid::refreshAll() {
    for (PanelCell* cell : cells_) cell->refresh();
}

void PanelGrid::setAxesFrozen(bool frozen) {
    for (PanelCell* cell : cells_) cell->plot()->setAxesFrozen(frozen);
}

void PanelGrid::arrange() {
    auto* grid = static_cast<QGridLayout*>(layout());
    const int columns = wide_ && !basic_ ? 3 : 2, shown = columns * 2;
    for (PanelCell* cell : cells_) grid->removeWidget(cell);
    for (int c = 0; c < 3; ++c) grid->setColumnStretch(c, focused_ >= 0 ? c == 0 : c < columns);
    const bool one_row = focused_ >= 0 || basic_;
    for (int r = 0; r < 2; ++r) grid->setRowStretch(r, one_row ? r == 0 : 1);
    for (int i = 0; i < static_cast<int>(cells_.size()); ++i) {
        PanelCell* cell = cells_[static_cast<std::size_t>(i)];
        const bool in_grid = basic_ ? i == kBasicLeft || i == kBasicRight : i < shown;
        const bool visible = focused_ >= 0 ? i == focused_ : in_grid;
        if (visible) {
            // Cells 0 … 3 are the left 2 × 2, cells 4 and 5 the third column.
            const int row = one_row ? 0 : i < 4 ? i / 2 : i - 4;
            const int column = focused_ >= 0 ? 0 : basic_ ? i == kBasicRight : i < 4 ? i % 2 : 2;
            grid->addWidget(cell, row, column);
        }
        cell->setVisible(visible);
    }
    Q_EMIT shownProbesChanged();
}

void PanelGrid::setWide(bool wide) {
    if (wide == wide_) return;
    wide_ = wide;
    arrange();
}

void PanelGrid::setBasic(bool basic) {
    if (basic == basic_) return;
    basic_ = basic;
    arrange();
}

void PanelGrid::focusCell(int index) {
    if (index == focused_ || index >= static_cast<int>(cells_.size())) return;
    focused_ = index;
    arrange();
    if (index >= 0) cells_[static_cast<std::size_t>(index)]->plot()->setFocus();
}

std::vector<PanelCell*> PanelGrid::visibleCells() const {
    std::vector<PanelCell*> visible;
    for (PanelCell* cell : cells_)
        if (!cell->isHidden()) visible.push_back(cell);
    return visible;
}

PanelCell* PanelGrid::currentCell() const {
    const auto visible = visibleCells();
    for (PanelCell* cell : visible)
        if (cell->plot()->hasFocus()) return cell;
    for (PanelCell* cell : visible)
        if (cell->underMouse()) return cell;
    return visible.front();
}

std::vector<std::string> PanelGrid::shownProbes() const {
    std::vector<std::string> probes;
    const auto add = [&](const std::string& probe) {
        if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
    };
    for (const PanelCell* cell : visibleCells())
        for (const std::string& probe : panelInfo(cell->panel()).probes) add(probe);
    add("gradients");  // the stack's, whatever the panels are
    add("growth");     // a number of the findings
    return probes;
}

void PanelGrid::setTheme(const Theme& theme) {
    for (PanelCell* cell : cells_) cell->plot()->setTheme(theme);
}

void PanelGrid::setTextSizes(int text_px, double line_px) {
    for (PanelCell* cell : cells_) cell->setTextSizes(text_px, line_px);
}

void PanelGrid::shareCrosshair(PanelCell* from, std::optional<double> x) {
    for (PanelCell* cell : cells_)
        if (cell != from)
            cell->plot()->setCrosshair(
                sharesX(*cell->plot()->figure(), *from->plot()->figure()) ? x : std::nullopt);
    // The hidden state at x = k/2 is the output of layer ⌈x⌉; at 0 it is the embedding.
    const bool depth = x && overDepth(*from->plot()->figure());
    Q_EMIT layerHovered(depth ? static_cast<int>(std::ceil(*x)) - 1 : -1);
}

void PanelGrid::showLayer(int layer) {
    for (PanelCell* cell : cells_)
        cell->plot()->setCrosshair(layer >= 0 && overDepth(*cell->plot()->figure())
                                       ? std::optional<double>(layer + 1)
                                       : std::nullopt);
}

}  // namespace normscope::widgets
