// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/command_search.h"

#include "widgets/dialogs/search_words.h"

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
#include <optional>
#include <tuple>

namespace normscope::widgets {

namespace {

const QString kKeysAfter = QStringLiteral("   ");  // between a command and its keys

QString textOf(const QAction* action) {
    QString text = action->text();
    text.remove(QLatin1Char('&'));
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    return keys.isEmpty() ? text : text + kKeysAfter + keys;
}

bool hasWord(const QString& text, const QString& word) {
    static const QString kWhole = QStringLiteral("(?<![\\w-])%1(?![\\w-])");
    const QRegularExpression whole(
        kWhole.arg(QRegularExpression::escape(word)),
        QRegularExpression::CaseInsensitiveOption | QRegularExpression::UseUnicodePropertiesOption);
    return text.contains(whole);
}

/// How well an entry fits what was typed; the smallest comes first.
struct Fit {
    std::size_t entry = 0;
    int parts = 0;     ///< typed words that are a part of one of its words, no word of its own
    int kind = 0;      ///< a knob, then commands and panels, then presets, then stories, gallery
    int meaning = 0;   ///< the later of the words' meanings are farther from them
    bool late = true;  ///< it does not begin with the typed word
    qsizetype length = 0;
    auto order() const { return std::tie(parts, kind, meaning, late, length); }
};

/// Of knobs before panels, as people change before they look.
int kindOf(const QString& text) {
    if (text.startsWith(QLatin1String("Knob:"))) return 0;
    if (text.startsWith(QLatin1String("Preset:"))) return 2;
    const qsizetype colon = text.indexOf(u':');
    const bool other = colon > 0 && !text.left(colon).contains(u' ');  // "Preset: …"
    return other && !text.startsWith(QLatin1String("Panel:")) ? 3 : 1;
}

/// Nullopt where the entry has not all words.
std::optional<Fit> fitOf(const QString& text, const std::vector<QStringList>& words) {
    Fit fit;
    for (const QStringList& meanings : words) {
        const auto has = [&](const QString& meaning) { return hasWord(text, meaning); };
        const auto found = std::find_if(meanings.begin(), meanings.end(), has);
        if (found == meanings.end() && !text.contains(meanings.front(), Qt::CaseInsensitive))
            return std::nullopt;
        fit.parts += found == meanings.end();
        fit.meaning += found == meanings.end() ? 0 : int(found - meanings.begin());
        fit.late &= !text.startsWith(meanings.front(), Qt::CaseInsensitive);
    }
    fit.kind = kindOf(text);
    fit.length = text.indexOf(kKeysAfter) < 0 ? text.size() : text.indexOf(kKeysAfter);
    return fit;
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
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // long entries are elided
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
    const std::vector<QStringList> words = searchWords(typed);
    std::vector<Fit> found;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (auto fit = fitOf(all_[i].text, words)) {
            fit->entry = i;
            found.push_back(*fit);
        }
    // Without a word as in the list of commands.
    if (!words.empty())
        std::stable_sort(found.begin(), found.end(),
                         [](const Fit& a, const Fit& b) { return a.order() < b.order(); });
    for (const Fit& fit : found) {
        auto* item = new QListWidgetItem(all_[fit.entry].text, list_);
        item->setData(Qt::UserRole, static_cast<qulonglong>(fit.entry));
    }
    if (list_->count() == 0) {
        const QString absent = notInThisLab(typed);
        auto* nothing =
            new QListWidgetItem(absent.isEmpty() ? tr("Nothing found with these words") : absent, list_);
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
