// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_search.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QVBoxLayout>

namespace normscope::app {

namespace {

QString textOf(const QAction* action) {
    QString text = action->text();
    text.remove(QLatin1Char('&'));
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    return keys.isEmpty() ? text : text + QStringLiteral("   ") + keys;
}

}  // namespace

CommandSearch::CommandSearch(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      actions_(actions),
      input_(new QLineEdit(this)),
      list_(new QListWidget(this)) {
    setObjectName(QStringLiteral("commandSearch"));
    setAttribute(Qt::WA_DeleteOnClose);
    input_->setPlaceholderText(tr("Type a command"));
    input_->setAccessibleName(tr("Command"));
    input_->setObjectName(QStringLiteral("commandInput"));
    list_->setObjectName(QStringLiteral("commandList"));
    list_->setFocusProxy(input_);
    input_->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 6, 6);
    column->addWidget(input_);
    column->addWidget(list_);
    resize(460, 420);
    connect(input_, &QLineEdit::textChanged, this, &CommandSearch::filter);
    connect(input_, &QLineEdit::returnPressed, this, &CommandSearch::runCurrent);
    connect(list_, &QListWidget::itemClicked, this, &CommandSearch::runCurrent);
    filter({});
    input_->setFocus();
}

void CommandSearch::filter(const QString& typed) {
    list_->clear();
    const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (QAction* action : actions_) {
        const QString text = textOf(action);
        const bool all = std::all_of(words.begin(), words.end(), [&](const QString& word) {
            return text.contains(word, Qt::CaseInsensitive);
        });
        if (!all || !action->isEnabled() || text.isEmpty()) continue;
        auto* item = new QListWidgetItem(text, list_);
        item->setData(Qt::UserRole, QVariant::fromValue<QObject*>(action));
    }
    if (list_->count() == 0) {
        auto* nothing = new QListWidgetItem(tr("No command has these words"), list_);
        nothing->setFlags(Qt::NoItemFlags);
    }
    list_->setCurrentRow(0);
}

void CommandSearch::runCurrent() {
    QListWidgetItem* item = list_->currentItem();
    if (!item) return;
    auto* action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
    if (!action) return;
    close();
    // After the popup is closed: a command may open a dialog.
    QTimer::singleShot(0, action, &QAction::trigger);
}

bool CommandSearch::eventFilter(QObject* watched, QEvent* event) {
    if (watched == input_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0 && list_->count() > 0) {
            list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace normscope::app
