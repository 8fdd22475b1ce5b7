// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_list.h"

#include "widgets/common/text_size.h"
#include "widgets/common/verdict_mark.h"

#include <QPainter>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kGalleryListLeft = 10, kGalleryListPadding = 6, kGalleryListGap = 2, kStateWidth = 170;  // px

int headingHeight(const QFont& font, const QString& heading) {
    return heading.isEmpty() ? 0 : lineHeight(sized(font, 11, QFont::Bold)) + 8;
}

}  // namespace

GalleryList::GalleryList() : RowList(QStringLiteral("galleryList"), tr("Figures and tables of the papers")) {
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // rows do not move when it appears
}

void GalleryList::setRows(std::vector<GalleryRow> rows) {
    rows_ = std::move(rows);
    refresh();
}

void GalleryList::setRow(GalleryRow row) {
    const QString id = row.id();
    const auto old =
        std::find_if(rows_.begin(), rows_.end(), [&](const GalleryRow& known) { return known.id() == id; });
    if (old != rows_.end()) *old = std::move(row);
    refresh(id);
}

const GalleryRow* GalleryList::find(const QString& id) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const GalleryRow& row) { return row.id() == id; });
    return found == rows_.end() ? nullptr : &*found;
}

QString GalleryList::heading(int row) const {
    const GalleryRow *of = find(id(row)), *above = find(id(row - 1));
    if (!of) return {};
    const QString paper = QString::fromUtf8(of->entry.paper());
    return above && QString::fromUtf8(above->entry.paper()) == paper ? QString() : paper;
}

int GalleryList::rowHeight(int row) const {
    const GalleryRow* of = find(id(row));
    if (!of) return 0;
    const QFont bold = sized(font(), 12, QFont::Bold), small = sized(font(), 11);
    const int width = viewport()->width() - 2 * kGalleryListLeft;
    return headingHeight(font(), heading(row)) + 2 * kGalleryListPadding +
           heightOf(bold, width - kStateWidth - kGalleryListLeft, QString::fromStdString(of->entry.title)) +
           kGalleryListGap + heightOf(small, width, sourceText(of->entry)) + kGalleryListGap +
           lineHeight(small) + 1;
}

QString GalleryList::describe(const QString& id) const {
    const GalleryRow* row = find(id);
    if (!row) return {};
    QStringList parts = {QString::fromStdString(row->entry.title), sourceText(row->entry), stateText(*row)};
    for (const auto& count : verdictCounts(*row)) parts << countText(count);
    return parts.join(QStringLiteral(", "));
}

void GalleryList::paintRow(const RowPaint& paint, int at) {
    const GalleryRow* of = find(id(at));
    if (!of) return;
    const QFont bold = sized(paint.font, 12, QFont::Bold), small = sized(paint.font, 11);
    QRect row = paint.row;
    if (const QString paper = heading(at); !paper.isEmpty()) {
        paint.text(sized(paint.font, 11, QFont::Bold), paint.muted, row.adjusted(kGalleryListLeft, 5, 0, 0),
                   paper);
        row.setTop(row.top() + headingHeight(paint.font, paper));
    }
    paint.ground(row, true);
    // Selected: not by the background alone.
    if (paint.selected) paint.painter.fillRect(QRect(row.left(), row.top(), 3, row.height()), paint.ink);
    row.adjust(kGalleryListLeft, kGalleryListPadding, -kGalleryListLeft, -kGalleryListPadding);
    const QRect state(row.right() + 1 - kStateWidth, row.top(), kStateWidth, row.height());
    paint.text(small, paint.muted, state, stateText(*of), Qt::AlignRight);
    const int width = row.width() - kStateWidth - kGalleryListLeft;
    const QString title = QString::fromStdString(of->entry.title), place = sourceText(of->entry);
    paint.text(bold, paint.ink, {row.left(), row.top(), width, row.height()}, title);
    row.setTop(row.top() + heightOf(bold, width, title) + kGalleryListGap);
    paint.text(small, paint.muted, row, place);
    row.setTop(row.top() + heightOf(small, row.width(), place) + kGalleryListGap);
    std::vector<MarkedText> counts;
    for (const auto& count : verdictCounts(*of))
        counts.push_back({markOf(count.first), countText(count),
                          count.first == GalleryVerdict::NotMeasured ? paint.muted : paint.ink});
    paintMarked(paint.painter, {row.left(), row.top(), row.width(), lineHeight(small)}, small, counts);
}

}  // namespace normscope::widgets
