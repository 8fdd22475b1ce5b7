// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/recording_list.h"

#include "widgets/drawers/runs_drawer.h"
#include "widgets/plots/glyph.h"

#include <QMimeData>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QUrl>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kRowHeight = 46, kGlyph = 12, kCurveWidth = 96;

/// A bar from the least to the largest loss of each block of steps, joined: no spike is lost.
void paintCurve(QPainter& painter, const QRectF& area, const RecordingCurve& curve, const QColor& colour) {
    double low = std::nan(""), high = std::nan("");
    for (std::size_t i = 0; i < curve.low.size(); ++i)
        if (std::isfinite(curve.low[i]) && std::isfinite(curve.high[i])) {
            low = std::fmin(low, curve.low[i]);
            high = std::fmax(high, curve.high[i]);
        }
    if (!std::isfinite(low) || curve.low.size() < 2) return;
    const double span = high > low ? high - low : 1;
    const auto y = [&](double value) { return area.bottom() - (value - low) / span * area.height(); };
    QPolygonF line;
    painter.setPen(QPen(colour, 1.25));
    for (std::size_t i = 0; i < curve.low.size(); ++i) {
        if (!std::isfinite(curve.low[i]) || !std::isfinite(curve.high[i])) {
            painter.drawPolyline(line);
            line.clear();
            continue;
        }
        const double x = area.left() + area.width() * double(i) / double(curve.low.size() - 1);
        line << QPointF(x, y(curve.high[i])) << QPointF(x, y(curve.low[i]));
    }
    painter.drawPolyline(line);
}

class RowPainter : public QStyledItemDelegate {
  public:
    RowPainter(RunsDrawer& drawer, QObject* parent) : QStyledItemDelegate(parent), drawer_(drawer) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {0, kRowHeight}; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const RecordingRow* row = drawer_.row(index.data(Qt::UserRole).toString());
        if (!row) return;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const bool selected = option.state & QStyle::State_Selected;
        const QPalette& palette = option.palette;
        if (selected) painter->fillRect(option.rect, palette.color(QPalette::AlternateBase));
        if (selected && option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(palette.color(QPalette::Text), 2));
            painter->drawRect(QRectF(option.rect).adjusted(1, 1, -1, -1));
        }
        const QColor ink = palette.color(QPalette::Text), muted = palette.color(QPalette::PlaceholderText);
        const QRect inner = option.rect.adjusted(8, 5, -8, -5);
        widgets::paintGlyph(*painter, QRectF(inner.left(), inner.top() + 3, kGlyph, kGlyph),
                            widgets::outcomeGlyph(drawer_.stateOf(*row)), ink);
        const int left = inner.left() + kGlyph + 8, half = inner.height() / 2;
        const QRect curve_at(inner.right() - kCurveWidth, inner.top(), kCurveWidth, half - 2);
        QFont font = option.font;
        font.setBold(true);
        painter->setFont(font);
        painter->setPen(ink);
        const QRect name(left, inner.top(), curve_at.left() - 8 - left, half);
        painter->drawText(name, Qt::AlignVCenter,
                          QFontMetrics(font).elidedText(drawer_.nameOf(*row), Qt::ElideRight, name.width()));
        font.setBold(false);
        font.setPixelSize(11);
        painter->setFont(font);
        painter->setPen(muted);
        const QRect details(left, inner.top() + half, inner.right() - left, inner.height() - half);
        painter->drawText(
            details, Qt::AlignVCenter,
            QFontMetrics(font).elidedText(drawer_.details(*row), Qt::ElideRight, details.width()));
        if (const RecordingCurve* curve = drawer_.curve(row->path))
            paintCurve(*painter, QRectF(curve_at), *curve, ink);
        painter->restore();
    }

  private:
    RunsDrawer& drawer_;
};

}  // namespace

RecordingList::RecordingList(RunsDrawer& drawer) : QListWidget(&drawer) {
    setItemDelegate(new RowPainter(drawer, this));
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setDragEnabled(true);
    setDragDropMode(QAbstractItemView::DragOnly);
    setUniformItemSizes(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
}

QMimeData* RecordingList::mimeData(const QList<QListWidgetItem*>& items) const {
    auto* mime = new QMimeData;
    QList<QUrl> urls;
    QStringList paths;
    for (const QListWidgetItem* item : items) paths << item->data(Qt::UserRole).toString();
    for (const QString& path : paths) urls << QUrl::fromLocalFile(path);
    mime->setUrls(urls);
    mime->setData(QLatin1String(kRecordingsMime), paths.join(u'\n').toUtf8());
    return mime;
}

}  // namespace normscope::app
