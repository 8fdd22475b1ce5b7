// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/runs_drawer.h"

#include "app/lab/lab.h"
#include "widgets/drawers/recording_list.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/plots/glyph.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QTimer>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {
constexpr int kListAgain = 1000;  // ms, while a run trains
}

RunsDrawer::RunsDrawer(Lab& lab, QWidget* over, QWidget* parent)
    : Drawer(over, kWidth, parent),
      lab_(lab),
      title_(new QLabel(tr("Recordings"), this)),
      empty_(new QLabel(this)),
      search_(new QLineEdit(this)),
      list_(new RecordingList(*this)),
      list_later_(new QTimer(this)) {
    setObjectName(QStringLiteral("runsDrawer"));
    setAccessibleName(tr("Recordings"));
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    search_->setObjectName(QStringLiteral("recordingSearch"));
    search_->setPlaceholderText(tr("Find a recording by name, outcome or date"));
    search_->setAccessibleName(tr("Find a recording"));
    search_->installEventFilter(this);
    list_->setObjectName(QStringLiteral("recordingList"));
    list_->setAccessibleName(tr("Recordings"));
    list_->installEventFilter(this);
    empty_->setObjectName(QStringLiteral("recordingsEmpty"));
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    empty_->setContentsMargins(0, 12, 12, 0);
    auto* keys = new QLabel(tr("Enter adds to the comparison · Delete moves to the trash"), this);
    keys->setForegroundRole(QPalette::PlaceholderText);
    auto* close = new widgets::GlyphButton(widgets::Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* heading = new QHBoxLayout;
    heading->addWidget(title_, 1);
    heading->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 8, 8);
    column->addLayout(heading);
    column->addWidget(search_);
    column->addWidget(empty_);
    column->addWidget(list_, 1);
    column->addWidget(keys);
    connect(search_, &QLineEdit::textChanged, this, &RunsDrawer::filter);
    connect(search_, &QLineEdit::returnPressed, this, &RunsDrawer::addSelected);
    connect(list_, &QListWidget::itemDoubleClicked, this, &RunsDrawer::addSelected);
    connect(&lab_, &Lab::recordingsListed, this, &RunsDrawer::take);
    connect(&lab_, &Lab::curveRead, this, [this](const QString& path, const RecordingCurve& curve) {
        if (const RecordingRow* read = row(path)) curves_[path] = {read->written, curve};
        list_->viewport()->update();
    });
    list_later_->setSingleShot(true);
    list_later_->setInterval(kListAgain);
    connect(list_later_, &QTimer::timeout, this, [this] {
        if (isVisible()) lab_.listRecordings();
    });
    const auto later = [this] {
        if (isVisible() && !list_later_->isActive()) list_later_->start();
    };
    connect(&lab_, &Lab::runsChanged, this, later);
    connect(&lab_, &Lab::dataChanged, this, later);
}

void RunsDrawer::open() {
    lab_.listRecordings();
    appear();
    search_->setFocus();
    search_->selectAll();
}

void RunsDrawer::take(const QList<RecordingRow>& rows, bool complete) {
    // A first list grows; one that is read again replaces the old one when it is complete.
    if (!complete && complete_) return;
    rows_ = rows;
    complete_ = complete;
    filter();
}

const RecordingRow* RunsDrawer::row(const QString& path) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const RecordingRow& r) { return r.path == path; });
    return found == rows_.end() ? nullptr : &*found;
}

const RecordingCurve* RunsDrawer::curve(const QString& path) {
    const RecordingRow* of = row(path);
    if (!of || !of->damage.isEmpty()) return nullptr;
    if (const LabRun* run = lab_.recordedIn(path); of->live && run) {
        const auto* losses = run->data->steps.find("loss");
        curves_[path] = {of->written, losses ? curveOf(*losses) : RecordingCurve{}};
    } else if (!of->live && asked_[path] != of->written) {
        asked_[path] = of->written;
        lab_.readCurve(path);
    }
    const auto found = curves_.find(path);
    return found == curves_.end() ? nullptr : &found->second.second;
}

QString RunsDrawer::nameOf(const RecordingRow& of) const {
    if (const LabRun* run = lab_.recordedIn(of.path)) return QString::fromStdString(run->data->name);
    return of.name.isEmpty() ? QFileInfo(of.path).fileName() : of.name;
}

RunState RunsDrawer::stateOf(const RecordingRow& of) const {
    if (!of.damage.isEmpty()) return RunState::Failed;
    return of.live ? RunState::Running : of.outcome.state;
}

QString RunsDrawer::details(const RecordingRow& of) const {
    const QString date = QLocale::c().toString(of.written, QStringLiteral("yyyy-MM-dd HH:mm"));
    if (!of.damage.isEmpty()) {
        const QString path = of.path + QStringLiteral(": ");  // the row is about this file anyway
        return tr("%1 · damaged: %2")
            .arg(date, of.damage.startsWith(path) ? of.damage.mid(path.size()) : of.damage);
    }
    QString text = tr("%1 · %2").arg(date, widgets::outcomeWord(stateOf(of)));
    if (of.last_step >= 0) text += tr(" · %1 steps").arg(of.last_step + 1);
    if (std::isfinite(of.last_loss)) text += tr(" · loss %1").arg(of.last_loss, 0, 'f', 2);
    if (lab_.recordedIn(of.path)) text += tr(" · in the comparison");
    return text;
}

void RunsDrawer::filter() {
    const QStringList words = search_->text().split(u' ', Qt::SkipEmptyParts);
    QStringList left;
    for (const RecordingRow& of : rows_) {
        const QString text = nameOf(of) + u' ' + details(of);
        if (std::all_of(words.begin(), words.end(),
                        [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); }))
            left << of.path;
    }
    // The same rows stay as they are: selected, scrolled.
    if (left != paths()) {
        const QListWidgetItem* current = list_->currentItem();
        const QString selected = current ? current->data(Qt::UserRole).toString() : QString();
        list_->clear();
        for (const QString& path : left) {
            auto* item = new QListWidgetItem(list_);
            item->setData(Qt::UserRole, path);
            if (path == selected) list_->setCurrentItem(item);
        }
        if (!list_->currentItem() && list_->count() > 0) list_->setCurrentRow(0);
    }
    for (int i = 0; i < list_->count(); ++i) {
        const RecordingRow& of = *row(left[i]);
        list_->item(i)->setData(Qt::AccessibleTextRole, nameOf(of) + QStringLiteral(", ") + details(of));
        list_->item(i)->setToolTip(of.damage.isEmpty() ? of.path : of.damage);
    }
    list_->viewport()->update();
    sayState();
}

void RunsDrawer::sayState() {
    title_->setText(rows_.isEmpty() ? tr("Recordings") : tr("Recordings · %1").arg(rows_.size()));
    empty_->setVisible(list_->count() == 0);
    list_->setVisible(list_->count() > 0);
    if (!rows_.isEmpty())
        empty_->setText(tr("No recording matches"));
    else
        empty_->setText(complete_ ? tr("No recordings yet: a run is recorded while it trains")
                                  : tr("The recordings are being read"));
}

QStringList RunsDrawer::paths() const {
    QStringList shown;
    for (int i = 0; i < list_->count(); ++i) shown << list_->item(i)->data(Qt::UserRole).toString();
    return shown;
}

void RunsDrawer::addSelected() {
    QStringList chosen;
    for (const QListWidgetItem* item : list_->selectedItems())
        if (const RecordingRow* of = row(item->data(Qt::UserRole).toString()); of && of->damage.isEmpty())
            chosen << of->path;
    if (!chosen.isEmpty()) Q_EMIT addRequested(chosen);
}

void RunsDrawer::trashSelected() {
    const QListWidgetItem* item = list_->currentItem();
    const RecordingRow* of = item ? row(item->data(Qt::UserRole).toString()) : nullptr;
    if (of && !of->live) Q_EMIT trashRequested(of->path, nameOf(*of));
}

bool RunsDrawer::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (watched == search_ && (key == Qt::Key_Down || key == Qt::Key_Up)) {
            list_->setFocus();
            QCoreApplication::sendEvent(list_, event);
            return true;
        }
        if (watched == list_ && (key == Qt::Key_Return || key == Qt::Key_Enter)) {
            addSelected();
            return true;
        }
        if (watched == list_ && key == Qt::Key_Delete) {
            trashSelected();
            return true;
        }
    }
    return Drawer::eventFilter(watched, event);
}

}  // namespace normscope::app
