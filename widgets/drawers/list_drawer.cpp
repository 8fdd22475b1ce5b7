// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/list_drawer.h"

#include "widgets/common/row_list.h"
#include "widgets/plots/glyph.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QCoreApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>

namespace normscope::widgets {

QFont smallFont(QFont font) {
    font.setPixelSize(11);
    return font;
}

ListDrawer::ListDrawer(const Names& names, RowList* list, int width, QWidget* over, QWidget* parent)
    : Drawer(over, width, parent),
      title_(new QLabel(this)),
      empty_(new QLabel(this)),
      search_(new QLineEdit(this)),
      list_(list),
      heading_(new QHBoxLayout),
      filters_(new QHBoxLayout),
      column_(new QVBoxLayout(this)) {
    setObjectName(QLatin1String(names.drawer));
    title_->setObjectName(QLatin1String(names.title));
    title_->setTextFormat(Qt::PlainText);
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    empty_->setObjectName(QLatin1String(names.empty));
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    search_->setObjectName(QLatin1String(names.search));
    search_->installEventFilter(this);
    auto* close = new GlyphButton(Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    heading_->addWidget(title_, 1);
    heading_->addWidget(close);
    filters_->setContentsMargins(0, 0, 6, 0);
    filters_->addWidget(search_, 1);
    column_->setContentsMargins(14, 8, 8, 8);
    column_->setSpacing(6);
    column_->addLayout(heading_);
    column_->addLayout(filters_);
    column_->addWidget(empty_, 1);
    column_->addWidget(list_, 1);
    connect(search_, &QLineEdit::textChanged, this, &ListDrawer::filter);
}

QComboBox* ListDrawer::addChoice(const char* name, const QString& accessible) {
    auto* choice = new QComboBox(this);
    choice->setObjectName(QLatin1String(name));
    choice->setAccessibleName(accessible);
    filters_->insertWidget(filters_->count() - 1, choice);
    setTabOrder(choice, search_);
    setTabOrder(search_, list_);
    connect(choice, &QComboBox::currentIndexChanged, this, &ListDrawer::filter);
    return choice;
}

void ListDrawer::addHint(const QString& text) {
    auto* hint = new QLabel(text, this);
    hint->setFont(smallFont(hint->font()));
    hint->setForegroundRole(QPalette::PlaceholderText);
    column_->addWidget(hint);
}

bool ListDrawer::passes(const QString&) const {
    return true;
}

bool ListDrawer::isOfList(int key) const {
    return key == Qt::Key_Down || key == Qt::Key_Up;
}

void ListDrawer::filter() {
    const QStringList words = search_->text().split(u' ', Qt::SkipEmptyParts);
    QStringList left = allIds();
    left.removeIf([&](const QString& id) {
        if (!passes(id)) return true;
        const QString text = searched(id);
        return !std::all_of(words.begin(), words.end(),
                            [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    });
    list_->setIds(left);
    list_->setVisible(!left.isEmpty());
    empty_->setVisible(left.isEmpty());
    empty_->setText(emptyText());
}

bool ListDrawer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress &&
        isOfList(static_cast<QKeyEvent*>(event)->key())) {
        list_->setFocus();
        QCoreApplication::sendEvent(list_, event);
        return true;
    }
    return Drawer::eventFilter(watched, event);
}

}  // namespace normscope::widgets
