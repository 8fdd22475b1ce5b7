// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/row_list.h"

#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <algorithm>

namespace normscope::widgets {

void RowPaint::text(const QFont& of, const QColor& colour, const QRect& at, const QString& what,
                    Qt::Alignment side) const {
    painter.setFont(of);
    painter.setPen(colour);
    painter.drawText(at, int(Qt::TextWordWrap | Qt::AlignTop | side), what);
}

void RowPaint::ground(const QRect& at, bool ruled) const {
    if (selected) painter.fillRect(at, chosen);
    if (ruled) {
        painter.setPen(line);
        painter.drawLine(at.bottomLeft(), at.bottomRight());
    }
    if (selected && focused) {
        painter.setPen(QPen(ink, 2));
        painter.drawRect(QRectF(at).adjusted(1, 1, -1, -1));
    }
}

class RowList::Painter final : public QStyledItemDelegate {
  public:
    explicit Painter(RowList* list) : QStyledItemDelegate(list), list_(*list) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        return {0, list_.rowHeight(index.row())};
    }
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override {
        editor->setGeometry(option.rect.adjusted(0, list_.headHeight(index.row()), 0, 0));
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QPalette& palette = option.palette;
        painter->save();
        list_.paintRow({*painter, option.rect, option.font, palette.color(QPalette::Text),
                        palette.color(QPalette::PlaceholderText), palette.color(QPalette::Button),
                        palette.color(QPalette::AlternateBase), bool(option.state & QStyle::State_Selected),
                        bool(option.state & QStyle::State_HasFocus)},
                       index.row());
        painter->restore();
    }

  private:
    RowList& list_;
};

RowList::RowList(const QString& name, const QString& accessible, QWidget* parent) : QListWidget(parent) {
    setObjectName(name);
    setAccessibleName(accessible);
    setItemDelegate(new Painter(this));
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(this, &QListWidget::currentRowChanged, this, [this] { Q_EMIT chosen(selected()); });
}

void RowList::setIds(const QStringList& ids) {
    if (ids == this->ids()) return;
    const QString before = selected();
    {
        const QSignalBlocker quiet(this);
        clear();
        for (const QString& id : ids) {
            auto* row = new QListWidgetItem(this);
            row->setData(Qt::UserRole, id);
        }
        if (!ids.isEmpty()) setCurrentRow(std::max(0, static_cast<int>(ids.indexOf(before))));
    }
    refresh();
    Q_EMIT chosen(selected());
}

QStringList RowList::ids() const {
    QStringList all;
    for (int i = 0; i < count(); ++i) all << id(i);
    return all;
}

QString RowList::id(int row) const {
    const QListWidgetItem* of = item(row);
    return of ? of->data(Qt::UserRole).toString() : QString();
}

QString RowList::selected() const {
    return id(currentRow());
}

QStringList RowList::allSelected() const {
    QStringList all;
    for (const QListWidgetItem* item : selectedItems()) all << item->data(Qt::UserRole).toString();
    return all;
}

QListWidgetItem* RowList::rowOf(const QString& id) const {
    for (int i = 0; i < count(); ++i)
        if (this->id(i) == id) return item(i);
    return nullptr;
}

void RowList::select(const QString& id) {
    if (QListWidgetItem* row = rowOf(id)) {
        setCurrentItem(row);
        scrollToItem(row);
    }
}

QString RowList::toolTipOf(const QString&) const {
    return {};
}

void RowList::refresh(const QString& id) {
    for (int i = 0; i < count(); ++i) {
        if (!id.isEmpty() && this->id(i) != id) continue;
        item(i)->setData(Qt::AccessibleTextRole, describe(this->id(i)));
        item(i)->setToolTip(toolTipOf(this->id(i)));
    }
    updateLayout();
}

void RowList::updateLayout() {
    scheduleDelayedItemsLayout();
    viewport()->update();
}

void RowList::resizeEvent(QResizeEvent* event) {
    QListWidget::resizeEvent(event);
    updateLayout();
}

}  // namespace normscope::widgets
