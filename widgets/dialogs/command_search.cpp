// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/command_search.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QRegularExpression>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

namespace normscope::widgets {

namespace {

QString textOf(const QAction* action) {
    QString text = action->text();
    text.remove(QLatin1Char('&'));
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    return keys.isEmpty() ? text : text + QStringLiteral("   ") + keys;
}

}  // namespace

CommandSearch::CommandSearch(const QList<QAction*>& actions, std::vector<SearchEntry> entries,
                             QWidget* parent)
    : QDialog(parent, Qt::Popup), input_(new QLineEdit(this)), list_(new QListWidget(this)) {
    setObjectName(QStringLiteral("commandSearch"));
    setAttribute(Qt::WA_DeleteOnClose);
    input_->setPlaceholderText(tr("Find a command, a knob, a panel, a preset"));
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
    for (QAction* action : actions)
        if (action->isEnabled() && !action->text().isEmpty())
            all_.push_back({textOf(action), [action = QPointer(action)] {
                                if (action) action->trigger();
                            }});
    std::move(entries.begin(), entries.end(), std::back_inserter(all_));
    filter({});
    input_->setFocus();
}

void CommandSearch::filter(const QString& typed) {
    list_->clear();
    const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    struct Found {
        std::size_t entry;
        qsizetype part;  ///< typed words that are only part of a word of the entry
    };
    std::vector<Found> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        Found now{i, 0};
        const bool all = std::all_of(words.begin(), words.end(), [&](const QString& word) {
            static const QString kWhole = QStringLiteral("(?<![\\w-])%1(?![\\w-])");
            const QRegularExpression whole(
                kWhole.arg(QRegularExpression::escape(word)),
                QRegularExpression::CaseInsensitiveOption | QRegularExpression::UseUnicodePropertiesOption);
            now.part += !all_[i].text.contains(whole);
            return all_[i].text.contains(word, Qt::CaseInsensitive);
        });
        if (all) found.push_back(now);
    }
    // "steps" is the knob of that name before the one whose name has it as a part; of equals the shorter
    // text.
    if (!words.isEmpty())
        std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
            if (a.part != b.part) return a.part < b.part;
            return all_[a.entry].text.size() < all_[b.entry].text.size();
        });
    for (const auto& [i, _] : found) {
        auto* item = new QListWidgetItem(all_[i].text, list_);
        item->setData(Qt::UserRole, static_cast<qulonglong>(i));
    }
    if (list_->count() == 0) {
        auto* nothing = new QListWidgetItem(tr("Nothing has these words"), list_);
        nothing->setFlags(Qt::NoItemFlags);
    }
    list_->setCurrentRow(0);
}

void CommandSearch::runCurrent() {
    QListWidgetItem* item = list_->currentItem();
    if (!item) return;
    if (!(item->flags() & Qt::ItemIsEnabled)) return;
    const SearchEntry entry = all_[item->data(Qt::UserRole).toULongLong()];
    close();
    // After the popup is closed: a command may open a dialog.
    QTimer::singleShot(0, parentWidget(), entry.run);
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

}  // namespace normscope::widgets
