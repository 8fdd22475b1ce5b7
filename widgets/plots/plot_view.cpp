// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_view.h"

#include "core/base/assert.h"
#include "widgets/accessibility/accessible_role.h"

#include <QApplication>
#include <QClipboard>
#include <QGraphicsItem>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope::widgets {

namespace {
constexpr int kSmallResize =
    100;  // px along a side: more, as on maximising, would show the old image for a frame
}

/// Crosshair, the points on it, and the zoom box: what moves with the mouse and is not part of the figure.
class PlotView::Overlay {
  public:
    explicit Overlay(const PlotView& view) : view_(view) {}
    QRectF box;  ///< rubber band; null = none

    void paint(QPainter& painter) const {
        const Theme& theme = view_.style_.theme;
        if (view_.crosshair_) {
            for (std::size_t i = 0; i < view_.figureLayout().plots.size(); ++i) paintCrosshair(painter, i);
        }
        if (!box.isNull()) {
            QColor fill = theme.selection;
            fill.setAlphaF(0.12F);
            painter.setPen(QPen(theme.selection, 1));
            painter.setBrush(fill);
            painter.drawRect(box);
        }
    }

  private:
    void paintCrosshair(QPainter& painter, std::size_t index) const {
        const PlotLayout& layout = view_.figureLayout().plots[index];
        const Plot& plot = view_.shown_->plots[index];
        const double at = layout.x.toPixel(*view_.crosshair_);
        if (!plot.maps.empty() || !(at >= layout.area.left() && at <= layout.area.right())) return;
        painter.setPen(QPen(view_.style_.theme.axis, 1));
        painter.drawLine(QPointF(at, layout.area.top()), QPointF(at, layout.area.bottom()));
        for (const auto& curve : plot.curves) {
            const auto value = valueAt(curve, *view_.crosshair_);
            if (!value || isUnderlaid(curve.kind)) continue;
            const double y = layout.y.toPixel(*value);
            if (!(y >= layout.area.top() && y <= layout.area.bottom())) continue;
            painter.setPen(QPen(view_.style_.theme.colour(curve.role), 6 * view_.style_.unit, Qt::SolidLine,
                                Qt::RoundCap));
            painter.drawPoint(QPointF(at, y));
        }
    }

    const PlotView& view_;
};

PlotView::PlotView(QWidget* parent)
    : QGraphicsView(parent),
      figure_(std::make_shared<Figure>()),
      shown_(figure_),
      style_(screenStyle(Theme::make(Theme::Kind::Light))),
      overlay_(std::make_unique<Overlay>(*this)),
      card_(new HoverCard(viewport())) {
    setAccessibleRole(this, QAccessible::Chart);
    setScene(&scene_);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAlignment(Qt::AlignLeft | Qt::AlignTop);
    // rebuild() updates it: the scene need not search its items for changes.
    setViewportUpdateMode(NoViewportUpdate);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAcceptDrops(false);  // a scene takes every drag: what is dropped on a plot is for the window
    viewport()->setAcceptDrops(false);
}

PlotView::~PlotView() = default;

void PlotView::setFigure(std::shared_ptr<const Figure> figure) {
    NORMSCOPE_ASSERT(figure, "a view always has a figure");
    figure_ = std::move(figure);
    setAccessibleName(figure_->title);
    setAccessibleDescription(figure_->summary);
    rebuild();
}

void PlotView::setTheme(const Theme& theme) {
    style_.theme = theme;
    rebuild();
}

void PlotView::setSizes(int text_px, double line_px) {
    const bool title = style_.show_title;
    style_ = screenStyle(style_.theme, text_px, line_px);
    style_.show_title = title;
    rebuild();
}

void PlotView::setTitleShown(bool shown) {
    style_.show_title = shown;
    rebuild();
}

void PlotView::setAxesFrozen(bool frozen) {
    if (frozen == frozen_.has_value()) return;
    if (!frozen) {
        frozen_.reset();
        if (rebuilt_frozen_) rebuild();
        return;
    }
    rebuilt_frozen_ = false;
    frozen_.emplace();
    for (const auto& plot : figureLayout().plots) {
        frozen_->plots.push_back(
            {{Range{plot.x.low, plot.x.high}, plot.x.scale}, {Range{plot.y.low, plot.y.high}, plot.y.scale}});
    }
}

void PlotView::setViewState(const PlotViewState& state) {
    if (state != view_state_) changeView(state);
}

void PlotView::resetView() {
    changeView({});
}

void PlotView::setCrosshair(std::optional<double> x) {
    if (x == crosshair_) return;
    crosshair_ = x;
    viewport()->update();
}

void PlotView::rebuild() {
    dirty_ = !isVisible();
    if (dirty_) return;
    resized_ = false;
    style_.pixel = 1 / viewport()->devicePixelRatioF();
    if (view_state_.plots.empty() && !frozen_) {
        shown_ = figure_;
    } else {
        Figure shown = applyViewState(*figure_, view_state_);
        if (frozen_) shown = applyViewState(std::move(shown), *frozen_);
        rebuilt_frozen_ = frozen_.has_value();
        shown_ = std::make_shared<const Figure>(std::move(shown));
    }
    scene_.setFigure(*shown_, viewport()->size(), style_);
    stored_ = Kept::Nothing;
    viewport()->update();
    // The card is kept for the new figure, unless its point no longer exists.
    std::optional<HoverPoint> point = hover_;
    if (mouse_inside_) point = hoverAt(*shown_, figureLayout(), hover_position_);
    if (point && static_cast<std::size_t>(point->plot) >= figureLayout().plots.size()) point.reset();
    if (marked_from_ && marked_to_) {  // the cells may have moved
        const bool there = isMap(marked_to_->plot) &&
                           std::max(marked_from_->row, marked_to_->row) <
                               shown_->plots[static_cast<std::size_t>(marked_to_->plot)].maps.front().rows &&
                           std::max(marked_from_->column, marked_to_->column) <
                               shown_->plots[static_cast<std::size_t>(marked_to_->plot)].maps.front().columns;
        there ? markTo(*marked_to_) : endMarking();
    }
    setHover(point);
}

void PlotView::changeView(PlotViewState state) {
    view_state_ = std::move(state);
    frozen_.reset();  // a range set by the user overrides the one frozen during a drag
    rebuild();
    Q_EMIT viewStateChanged();
}

PlotAxesView& PlotView::axesView(PlotViewState& state, std::size_t plot) const {
    if (state.plots.size() <= plot) state.plots.resize(plot + 1);
    return state.plots[plot];
}

bool PlotView::isMap(int plot) const {
    return plot >= 0 && static_cast<std::size_t>(plot) < shown_->plots.size() &&
           !shown_->plots[static_cast<std::size_t>(plot)].maps.empty();
}

void PlotView::zoom(std::size_t plot, std::optional<Range> x, std::optional<Range> y) {
    PlotViewState state = view_state_;
    if (x) {
        for (const std::size_t i : plotsSharingX(*shown_, plot)) axesView(state, i).x.range = x;
    }
    if (y) axesView(state, plot).y.range = y;
    changeView(std::move(state));
}

void PlotView::toggleLog(Along along) {
    if (shown_->plots.empty()) return;
    const std::size_t plot = hover_ ? static_cast<std::size_t>(hover_->plot) : 0;
    if (isMap(static_cast<int>(plot))) return;
    const auto& axes = shown_->plots[plot];
    const Scale now = along == Along::X ? axes.x.scale : axes.y.scale;
    const Scale next = now == Scale::Linear ? Scale::Log : Scale::Linear;
    PlotViewState state = view_state_;
    // A zoom range belongs to the scale it was made on.
    if (along == Along::Y)
        axesView(state, plot).y = {std::nullopt, next};
    else
        for (const std::size_t i : plotsSharingX(*shown_, plot)) axesView(state, i).x = {std::nullopt, next};
    changeView(std::move(state));
}

void PlotView::moveHover(int direction) {
    const HoverPoint from = hover_.value_or(HoverPoint{0, kNaN, -1, -1, -1});
    auto next = hoverNeighbour(*shown_, from, direction);
    if (!next) return;
    const PlotLayout& layout = figureLayout().plots[static_cast<std::size_t>(next->plot)];
    hover_position_ =
        QPoint(static_cast<int>(layout.x.toPixel(next->x)), static_cast<int>(layout.area.top()) + 8);
    mouse_inside_ = false;
    setHover(next);
}

void PlotView::moveCell(int right, int up, bool extend) {
    const HoverPoint from = hover_.value_or(HoverPoint{0, kNaN, -1, -1, -1});
    const auto next = cellNeighbour(*shown_, from, right, up);
    if (!next) return;
    const PlotLayout& layout = figureLayout().plots[static_cast<std::size_t>(next->plot)];
    hover_position_ =
        QPointF(layout.x.toPixel(next->column + 0.5), layout.y.toPixel(next->row + 0.5)).toPoint();
    mouse_inside_ = false;
    if (!extend || !cells_markable_)
        endMarking();
    else if (!marked_from_)
        marked_from_ = from.row >= 0 ? from : *next;
    setHover(next);
    if (marked_from_) markTo(*next);
}

/// The box around the cells from marked_from_ to this one.
void PlotView::markTo(const HoverPoint& corner) {
    marked_to_ = corner;
    const PlotLayout& layout = figureLayout().plots[static_cast<std::size_t>(corner.plot)];
    const auto [left, right] = std::minmax(marked_from_->column, corner.column);
    const auto [low, high] = std::minmax(marked_from_->row, corner.row);
    overlay_->box = QRectF(QPointF(layout.x.toPixel(left), layout.y.toPixel(high + 1)),
                           QPointF(layout.x.toPixel(right + 1), layout.y.toPixel(low)));
    viewport()->update();
}

void PlotView::endMarking() {
    marked_from_.reset();
    marked_to_.reset();
    overlay_->box = QRectF();
    viewport()->update();
}

void PlotView::setHover(std::optional<HoverPoint> point) {
    const bool had = hover_.has_value();
    hover_ = point;
    showHover();
    if (!hover_ && had) {
        setCrosshair(std::nullopt);
        Q_EMIT left();
    }
}

void PlotView::showHover() {
    if (!hover_) {
        card_->hide();
        return;
    }
    if (!std::isnan(hover_->x)) setCrosshair(hover_->x);
    card_->showLines(hoverLines(*shown_, *hover_), hover_position_, style_);
    Q_EMIT hovered(*hover_);
}

bool PlotView::event(QEvent* event) {
    // While a plot has the focus its keys take precedence over the window's shortcuts.
    if (event->type() == QEvent::ShortcutOverride) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = !(key->modifiers() & ~Qt::ShiftModifier);
        const QList<int> keys = {Qt::Key_X, Qt::Key_Y, Qt::Key_Question};
        if (key->matches(QKeySequence::Copy) || (plain && keys.contains(key->key()))) {
            key->accept();
            return true;
        }
    }
    return QGraphicsView::event(event);
}

bool PlotView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) {
        mouse_inside_ = false;
        setHover(std::nullopt);
    }
    return QGraphicsView::viewportEvent(event);
}

/// What is painted a second time is kept as an image: a crosshair costs a copy of it. A figure that the next
/// one replaces, as in a drag, never is.
void PlotView::paintEvent(QPaintEvent* event) {
    const double ratio = viewport()->devicePixelRatioF();
    if (dirty_ || style_.pixel != 1 / ratio) rebuild();
    QPainter painter(viewport());
    painter.setClipRegion(event->region());
    if (resized_) painter.fillRect(viewport()->rect(), style_.theme.background);
    if (stored_ == Kept::Nothing) {
        scene_.paint(painter);
        stored_ = Kept::Painted;
    } else {
        if (stored_ == Kept::Painted) keepImage(ratio);
        painter.drawPixmap(0, 0, image_);
    }
    overlay_->paint(painter);
}

void PlotView::keepImage(double ratio) {
    const QSize size = (QSizeF(viewport()->size()) * ratio).toSize();
    if (image_.size() != size) image_ = QPixmap(size);
    image_.setDevicePixelRatio(ratio);
    image_.fill(style_.theme.background);
    QPainter painter(&image_);
    scene_.paint(painter);
    stored_ = Kept::Image;
}

void PlotView::resizeEvent(QResizeEvent* event) {
    QGraphicsView::resizeEvent(event);
    const QSize change = event->size() - event->oldSize();
    const bool small = std::abs(change.width()) <= kSmallResize && std::abs(change.height()) <= kSmallResize;
    if (!resized_later_ || !small || stored_ == Kept::Nothing) return rebuild();
    resized_ = true;
    resized_later_();
}

void PlotView::layOutResized() {
    if (!resized_) return;
    rebuild();
    if (!dirty_) keepImage(viewport()->devicePixelRatioF());  // the next change of the size shows it
}

void PlotView::showEvent(QShowEvent* event) {
    QGraphicsView::showEvent(event);
    if (dirty_) rebuild();
}

void PlotView::mousePressEvent(QMouseEvent* event) {
    layOutResized();  // places are those of the new size
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    pressed_at_ = event->pos();
    pressed_plot_ = plotAt(figureLayout(), event->pos());
    event->accept();
}

void PlotView::mouseMoveEvent(QMouseEvent* event) {
    layOutResized();
    hover_position_ = event->pos();
    mouse_inside_ = true;
    const bool dragging = (event->buttons() & Qt::LeftButton) && pressed_plot_ >= 0 && !isMap(pressed_plot_);
    if (dragging && (event->pos() - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
        const QRectF& area = figureLayout().plots[static_cast<std::size_t>(pressed_plot_)].area;
        QRectF box = QRectF(pressed_at_, event->pos()).normalized().intersected(area);
        // A drag along one axis zooms that axis alone: the box then spans the other one.
        if (box.width() < 8)
            box.setLeft(area.left()), box.setRight(area.right());
        else if (box.height() < 8)
            box.setTop(area.top()), box.setBottom(area.bottom());
        overlay_->box = box;
        viewport()->update();
        card_->hide();
        return;
    }
    if (cells_markable_ && (event->buttons() & Qt::LeftButton) && isMap(pressed_plot_) &&
        (event->pos() - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
        // Outside the map the nearest cell of its edge.
        const QRectF area = figureLayout().plots[static_cast<std::size_t>(pressed_plot_)].area;
        const QPointF inside(std::clamp<double>(event->pos().x(), area.left(), area.right() - 1),
                             std::clamp<double>(event->pos().y(), area.top(), area.bottom() - 1));
        if (!marked_from_) marked_from_ = hoverAt(*shown_, figureLayout(), pressed_at_);
        const auto corner = hoverAt(*shown_, figureLayout(), inside);
        if (marked_from_ && corner && corner->plot == marked_from_->plot) markTo(*corner);
        card_->hide();
        return;
    }
    setHover(hoverAt(*shown_, figureLayout(), event->pos()));
}

void PlotView::mouseReleaseEvent(QMouseEvent* event) {
    layOutResized();
    if (event->button() != Qt::LeftButton || pressed_plot_ < 0) return;
    const std::size_t plot = static_cast<std::size_t>(std::exchange(pressed_plot_, -1));
    const QRectF box = std::exchange(overlay_->box, QRectF());
    const auto from = marked_from_, to = marked_to_;
    endMarking();
    if (plot >= figureLayout().plots.size()) return;  // the figure changed under the mouse
    const PlotLayout& layout = figureLayout().plots[plot];
    if (isMap(static_cast<int>(plot)) && from && to && !(*from == *to)) {
        const HeatMap& map = shown_->plots[plot].maps.front();  // it may have become smaller
        const auto [low, high] = std::minmax(from->row, to->row);
        const auto [left, right] = std::minmax(from->column, to->column);
        if (high < map.rows && right < map.columns)
            Q_EMIT cellsMarked(low, left, high, right, static_cast<int>(plot));
    } else if (isMap(static_cast<int>(plot))) {
        const auto cell = hoverAt(*shown_, figureLayout(), event->pos());
        if (cell && cell->plot == static_cast<int>(plot) && cell->row >= 0)
            Q_EMIT cellClicked(cell->row, cell->column, cell->plot);
    } else if (box.width() >= 8 && box.height() >= 8) {
        std::optional<Range> x, y;
        if (box.width() < layout.area.width())
            x = Range{layout.x.toValue(box.left()), layout.x.toValue(box.right())};
        if (box.height() < layout.area.height())
            y = Range{layout.y.toValue(box.bottom()), layout.y.toValue(box.top())};
        if (x || y) zoom(plot, x, y);
    }
}

void PlotView::mouseDoubleClickEvent(QMouseEvent* event) {
    layOutResized();
    if (event->button() != Qt::LeftButton) return;
    const int plot = plotAt(figureLayout(), event->pos());
    if (plot >= 0 && !isMap(plot))
        resetView();
    else
        Q_EMIT focusRequested();
}

void PlotView::wheelEvent(QWheelEvent* event) {
    layOutResized();
    const int plot = plotAt(figureLayout(), event->position());
    if (!(event->modifiers() & Qt::ControlModifier) || plot < 0 || isMap(plot)) {
        event->ignore();  // an enclosing scroll area scrolls
        return;
    }
    const PlotLayout& layout = figureLayout().plots[static_cast<std::size_t>(plot)];
    const double factor = std::pow(1.25, -event->angleDelta().y() / 120.0);
    const auto around = [factor](const AxisMap& map, double pixel) {
        return Range{map.toValue(pixel + (map.from - pixel) * factor),
                     map.toValue(pixel + (map.to - pixel) * factor)};
    };
    const Range x = around(layout.x, event->position().x()), y = around(layout.y, event->position().y());
    // Limit: neighbouring doubles would be on one pixel.
    const auto fine = [](const Range& r, Scale scale) {
        return isUsable(r, scale) &&
               r.second - r.first > 1e-12 * std::max(std::abs(r.first), std::abs(r.second));
    };
    if (fine(x, layout.x.scale) && fine(y, layout.y.scale)) zoom(static_cast<std::size_t>(plot), x, y);
    event->accept();
}

void PlotView::keyPressEvent(QKeyEvent* event) {
    layOutResized();
    if (event->matches(QKeySequence::Copy)) {
        if (!hoverText().isEmpty()) QApplication::clipboard()->setText(hoverText());
        return;
    }
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) {
        event->ignore();
        return;
    }
    if (isMap(hover_ ? hover_->plot : 0)) {
        const bool extend = event->modifiers() & Qt::ShiftModifier;
        switch (event->key()) {
            case Qt::Key_Left:
                return moveCell(-1, 0, extend);
            case Qt::Key_Right:
                return moveCell(1, 0, extend);
            case Qt::Key_Up:
                return moveCell(0, 1, extend);
            case Qt::Key_Down:
                return moveCell(0, -1, extend);
            case Qt::Key_Return:
            case Qt::Key_Enter: {
                const auto from = marked_from_, to = marked_to_;
                endMarking();
                if (from && to && !(*from == *to)) {
                    const auto [low, high] = std::minmax(from->row, to->row);
                    const auto [left, right] = std::minmax(from->column, to->column);
                    Q_EMIT cellsMarked(low, left, high, right, to->plot);
                } else if (hover_ && hover_->row >= 0) {
                    Q_EMIT cellClicked(hover_->row, hover_->column, hover_->plot);
                }
                return;
            }
            default:
                break;
        }
    }
    switch (event->key()) {
        case Qt::Key_X:
            toggleLog(Along::X);
            break;
        case Qt::Key_Y:
            toggleLog(Along::Y);
            break;
        case Qt::Key_Left:
            moveHover(-1);
            break;
        case Qt::Key_Right:
            moveHover(1);
            break;
        case Qt::Key_Home:
            resetView();
            break;
        case Qt::Key_Question:
            Q_EMIT helpRequested();
            break;
        case Qt::Key_F:
            Q_EMIT focusRequested();
            break;
        default:
            event->ignore();
            break;  // not the base class: it would scroll the scene
    }
}

}  // namespace normscope::widgets
