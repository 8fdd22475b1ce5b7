// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/recording_list.h"

#include "widgets/common/text_size.h"
#include "widgets/drawers/runs_drawer.h"
#include "widgets/plots/glyph.h"

#include <QKeyEvent>
#include <QMimeData>
#include <QPainter>
#include <QUrl>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kRowHeight = 46, kRecordingListGlyph = 12, kCurveWidth = 96;

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

}  // namespace

RecordingList::RecordingList(RunsDrawer& drawer)
    : RowList(QStringLiteral("recordingList"), tr("Recordings")), drawer_(drawer) {
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setDragEnabled(true);
    setDragDropMode(QAbstractItemView::DragOnly);
    setUniformItemSizes(true);
    connect(this, &QListWidget::itemDoubleClicked, this, &RecordingList::addRequested);
}

int RecordingList::rowHeight(int) const {
    return kRowHeight;
}

QString RecordingList::describe(const QString& path) const {
    const RecordingRow* row = drawer_.row(path);
    return row ? drawer_.nameOf(*row) + QStringLiteral(", ") + drawer_.details(*row) : QString();
}

QString RecordingList::toolTipOf(const QString& path) const {
    const RecordingRow* row = drawer_.row(path);
    return !row || row->damage.isEmpty() ? path : row->damage;
}

void RecordingList::paintRow(const RowPaint& paint, int at) {
    const RecordingRow* row = drawer_.row(id(at));
    if (!row) return;
    QPainter& painter = paint.painter;
    painter.setRenderHint(QPainter::Antialiasing);
    paint.ground(paint.row, false);
    const QRect inner = paint.row.adjusted(8, 5, -8, -5);
    paintGlyph(painter, QRectF(inner.left(), inner.top() + 3, kRecordingListGlyph, kRecordingListGlyph),
               outcomeGlyph(drawer_.stateOf(*row)), paint.ink);
    const int left = inner.left() + kRecordingListGlyph + 8, half = inner.height() / 2;
    const QRect curve_at(inner.right() - kCurveWidth, inner.top(), kCurveWidth, half - 2);
    const auto elided = [&](const QFont& font, const QColor& colour, const QRect& where,
                            const QString& text) {
        painter.setFont(font);
        painter.setPen(colour);
        painter.drawText(where, Qt::AlignVCenter,
                         QFontMetrics(font).elidedText(text, Qt::ElideRight, where.width()));
    };
    QFont bold = paint.font;
    bold.setBold(true);
    elided(bold, paint.ink, {left, inner.top(), curve_at.left() - 8 - left, half}, drawer_.nameOf(*row));
    elided(sized(paint.font, 11), paint.muted,
           {left, inner.top() + half, inner.right() - left, inner.height() - half}, drawer_.details(*row));
    if (const RecordingCurve* curve = drawer_.curve(row->path))
        paintCurve(painter, QRectF(curve_at), *curve, paint.ink);
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

void RecordingList::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter)
        Q_EMIT addRequested();
    else if (key == Qt::Key_Delete)
        Q_EMIT trashRequested();
    else
        RowList::keyPressEvent(event);
}

}  // namespace normscope::widgets
