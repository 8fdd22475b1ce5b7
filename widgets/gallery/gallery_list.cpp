// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_list.h"

#include "app/lab/studies/gallery_runs.h"
#include "widgets/common/text_size.h"
#include "widgets/gallery/gallery_texts.h"

#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

namespace normscope::app {

namespace {

constexpr int kLeft = 10, kPadding = 6, kGap = 2, kGlyph = 12, kStateWidth = 170;  // px

int headingHeight(const QFont& font, const QString& heading) {
    return heading.isEmpty() ? 0 : lineHeight(sized(font, 11, true)) + 8;
}

class EntryPainter : public QStyledItemDelegate {
  public:
    explicit EntryPainter(GalleryList* list) : QStyledItemDelegate(list), list_(*list) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        return {0, list_.rowHeight(index.row())};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const GalleryEntry* entry = list_.runs().find(index.data(Qt::UserRole).toString());
        if (!entry) return;
        painter->save();
        const QPalette& palette = option.palette;
        const QColor ink = palette.color(QPalette::Text), muted = palette.color(QPalette::PlaceholderText);
        const QFont bold = sized(option.font, 12, true), small = sized(option.font, 11),
                    head = sized(option.font, 11, true);
        QRect row = option.rect;
        const auto draw = [&](const QFont& font, const QColor& colour, const QRect& at, const QString& what,
                              Qt::Alignment side = Qt::AlignLeft) {
            painter->setFont(font);
            painter->setPen(colour);
            painter->drawText(at, int(Qt::TextWordWrap | Qt::AlignTop | side), what);
        };
        if (const QString heading = list_.heading(index.row()); !heading.isEmpty()) {
            draw(head, muted, row.adjusted(kLeft, 5, 0, 0), heading);
            row.setTop(row.top() + headingHeight(option.font, heading));
        }
        const bool selected = option.state & QStyle::State_Selected;
        if (selected) painter->fillRect(row, palette.color(QPalette::AlternateBase));
        painter->setPen(palette.color(QPalette::Button));
        painter->drawLine(row.bottomLeft(), row.bottomRight());
        if (selected) {  // not by the background alone
            painter->fillRect(QRect(row.left(), row.top(), 3, row.height()), ink);
            if (option.state & QStyle::State_HasFocus) {
                painter->setPen(QPen(ink, 2));
                painter->drawRect(QRectF(row).adjusted(1, 1, -1, -1));
            }
        }
        row.adjust(kLeft, kPadding, -kLeft, -kPadding);
        const QRect state(row.right() + 1 - kStateWidth, row.top(), kStateWidth, row.height());
        draw(small, muted, state, stateText(*entry, list_.runs()), Qt::AlignRight);
        const int width = row.width() - kStateWidth - kLeft;
        const QString title = QString::fromStdString(entry->title);
        draw(bold, ink, {row.left(), row.top(), width, row.height()}, title);
        row.setTop(row.top() + heightOf(bold, width, title) + kGap);
        const QString place = sourceText(*entry);
        draw(small, muted, row, place);
        row.setTop(row.top() + heightOf(small, row.width(), place) + kGap);
        int x = row.left();
        for (const auto& count :
             verdictCounts(*entry, list_.runs().state(index.data(Qt::UserRole).toString()))) {
            const QColor colour = count.first == GalleryVerdict::NotMeasured ? muted : ink;
            const int line = lineHeight(small);
            paintVerdict(*painter, QRectF(x, row.top() + (line - kGlyph) / 2.0, kGlyph, kGlyph), count.first,
                         colour);
            x += kGlyph + 4;
            const QString text = countText(count);
            draw(small, colour, {x, row.top(), row.right() - x, line}, text);
            x += QFontMetrics(small).horizontalAdvance(text) + 14;
        }
        painter->restore();
    }

  private:
    GalleryList& list_;
};

}  // namespace

GalleryList::GalleryList(GalleryRuns& runs, QWidget* parent) : QListWidget(parent), runs_(runs) {
    setObjectName(QStringLiteral("galleryList"));
    setAccessibleName(tr("Figures and tables of the papers"));
    setItemDelegate(new EntryPainter(this));
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // rows do not move when it appears
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(this, &QListWidget::currentRowChanged, this, [this] { Q_EMIT chosen(selected()); });
}

QStringList GalleryList::ids() const {
    QStringList all;
    for (int i = 0; i < count(); ++i) all << item(i)->data(Qt::UserRole).toString();
    return all;
}

QString GalleryList::selected() const {
    return currentItem() ? currentItem()->data(Qt::UserRole).toString() : QString();
}

void GalleryList::select(const QString& id) {
    if (const auto at = ids().indexOf(id); at >= 0) {
        setCurrentRow(static_cast<int>(at));
        scrollToItem(item(static_cast<int>(at)));
    }
}

const GalleryEntry* GalleryList::entryOf(int row) const {
    return row < 0 || row >= count() ? nullptr : runs_.find(item(row)->data(Qt::UserRole).toString());
}

QString GalleryList::heading(int row) const {
    const GalleryEntry *entry = entryOf(row), *above = entryOf(row - 1);
    if (!entry) return {};
    const QString paper = QString::fromUtf8(entry->paper());
    return above && QString::fromUtf8(above->paper()) == paper ? QString() : paper;
}

int GalleryList::rowHeight(int row) const {
    const GalleryEntry* entry = entryOf(row);
    if (!entry) return 0;
    const QFont bold = sized(font(), 12, true), small = sized(font(), 11);
    const int width = viewport()->width() - 2 * kLeft;
    return headingHeight(font(), heading(row)) + 2 * kPadding +
           heightOf(bold, width - kStateWidth - kLeft, QString::fromStdString(entry->title)) + kGap +
           heightOf(small, width, sourceText(*entry)) + kGap + lineHeight(small) + 1;
}

void GalleryList::setIds(const QStringList& ids) {
    if (ids == this->ids()) return;
    const QString before = selected();
    {
        const QSignalBlocker quiet(this);
        clear();
        for (const QString& id : ids) {
            auto* row = new QListWidgetItem(this);
            row->setData(Qt::UserRole, id);
        }
        const auto at = ids.indexOf(before);
        if (!ids.isEmpty()) setCurrentRow(at < 0 ? 0 : static_cast<int>(at));
    }
    refresh();
    Q_EMIT chosen(selected());
}

void GalleryList::describe(int row) const {
    const GalleryEntry* entry = entryOf(row);
    if (!entry) return;
    QStringList parts = {QString::fromStdString(entry->title), sourceText(*entry), stateText(*entry, runs_)};
    for (const auto& count : verdictCounts(*entry, runs_.state(QString::fromStdString(entry->id))))
        parts << countText(count);
    item(row)->setData(Qt::AccessibleTextRole, parts.join(QStringLiteral(", ")));
}

void GalleryList::refresh(const QString& id) {
    for (int i = 0; i < count(); ++i)
        if (id.isEmpty() || item(i)->data(Qt::UserRole).toString() == id) describe(i);
    scheduleDelayedItemsLayout();
    viewport()->update();
}

void GalleryList::resizeEvent(QResizeEvent* event) {
    QListWidget::resizeEvent(event);
    scheduleDelayedItemsLayout();
}

}  // namespace normscope::app
