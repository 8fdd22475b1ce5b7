// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/figure_scene.h"

#include "widgets/plots/figure_painter.h"

#include <QGraphicsItem>
#include <QPainter>

namespace normscope::widgets {

class FigureScene::Content : public QGraphicsItem {
  public:
    explicit Content(const FigureScene& scene) : scene_(scene) { setZValue(1); }
    void changed() {
        prepareGeometryChange();
        update();
    }
    QRectF boundingRect() const override { return {QPointF(), scene_.layout_.size}; }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) override {
        paintFigure(*painter, scene_.layout_, scene_.style_);
    }

  private:
    const FigureScene& scene_;
};

FigureScene::FigureScene(QObject* parent) : QGraphicsScene(parent), content_(new Content(*this)) {
    setItemIndexMethod(NoIndex);  // few items, all repainted together
    addItem(content_);
}

FigureScene::~FigureScene() = default;

void FigureScene::setFigure(const Figure& figure, const QSizeF& size, const RenderStyle& style) {
    layout_ = layoutFigure(figure, size, style);
    style_ = style;
    setSceneRect(QRectF(QPointF(), size));
    setBackgroundBrush(style.theme.background);
    while (frames_.size() > layout_.plots.size()) {
        frames_.back().remove();
        frames_.pop_back();
    }
    while (frames_.size() < layout_.plots.size()) frames_.emplace_back(this);
    for (std::size_t i = 0; i < frames_.size(); ++i) frames_[i].place(layout_.plots[i], style);
    content_->changed();
}

void FigureScene::paint(QPainter& painter) {
    render(&painter, sceneRect(), sceneRect(), Qt::IgnoreAspectRatio);
}

}  // namespace normscope::widgets
