// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/runs_drawer.h"

#include "widgets/drawers/recording_list.h"
#include "widgets/figures/outcome_word.h"

#include <QBoxLayout>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

RunsDrawer::RunsDrawer(QWidget* over, QWidget* parent)
    : ListDrawer({"runsDrawer", "recordingsTitle", "recordingSearch", "recordingsEmpty"},
                 new RecordingList(*this), kWidth, over, parent) {
    setAccessibleName(tr("Recordings"));
    search_->setPlaceholderText(tr("Find a recording by name, outcome or date"));
    search_->setAccessibleName(tr("Find a recording"));
    empty_->setContentsMargins(0, 12, 12, 0);
    auto* space = new QPushButton(tr("Space…"), this);
    space->setObjectName(QStringLiteral("recordingsSpace"));
    space->setAutoDefault(false);
    space->setToolTip(tr("What each recording takes on the disk"));
    heading_->insertWidget(1, space);
    addHint(tr("Enter adds to the comparison · Delete moves to the trash"));
    connect(space, &QPushButton::clicked, this, &RunsDrawer::spaceRequested);
    connect(search_, &QLineEdit::returnPressed, this, &RunsDrawer::addSelected);
    const auto* list = static_cast<RecordingList*>(list_);
    connect(list, &RecordingList::addRequested, this, &RunsDrawer::addSelected);
    connect(list, &RecordingList::trashRequested, this, &RunsDrawer::trashSelected);
    refresh();
}

void RunsDrawer::open() {
    appear();
    search_->setFocus();
    search_->selectAll();
}

void RunsDrawer::setRows(const QList<RecordingRow>& rows, bool complete) {
    if (!complete && complete_) return;
    rows_ = rows;
    complete_ = complete;
    refresh();
}

void RunsDrawer::setCompared(std::map<QString, QString> names) {
    if (names == compared_) return;
    compared_ = std::move(names);
    refresh();
}

void RunsDrawer::setCurve(const QString& path, const RecordingCurve& curve) {
    if (const RecordingRow* of = row(path)) curves_[path] = {of->written, curve};
    list_->viewport()->update();
}

QListWidget* RunsDrawer::list() const {
    return list_;
}

const RecordingRow* RunsDrawer::row(const QString& path) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const RecordingRow& r) { return r.path == path; });
    return found == rows_.end() ? nullptr : &*found;
}

const RecordingCurve* RunsDrawer::curve(const QString& path) {
    const RecordingRow* of = row(path);
    if (!of || !of->damage.isEmpty()) return nullptr;
    if (requested_[path] != of->written) {
        requested_[path] = of->written;
        Q_EMIT curveRequested(path);
    }
    const auto found = curves_.find(path);
    return found == curves_.end() ? nullptr : &found->second.second;
}

QString RunsDrawer::nameOf(const RecordingRow& of) const {
    if (const auto run = compared_.find(of.path); run != compared_.end()) return run->second;
    return of.name.isEmpty() ? QFileInfo(of.path).fileName() : of.name;
}

RunState RunsDrawer::stateOf(const RecordingRow& of) {
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
    QString text = tr("%1 · %2").arg(date, outcomeWord(stateOf(of)));
    if (of.last_step >= 0) text += tr(" · %1 steps").arg(of.last_step + 1);
    if (std::isfinite(of.last_loss)) text += tr(" · loss of its last step %1").arg(of.last_loss, 0, 'f', 2);
    if (compared_.count(of.path)) text += tr(" · in the comparison");
    return text;
}

QStringList RunsDrawer::allIds() const {
    QStringList paths;
    for (const RecordingRow& of : rows_) paths << of.path;
    return paths;
}

QString RunsDrawer::searched(const QString& path) const {
    const RecordingRow& of = *row(path);
    return nameOf(of) + u' ' + details(of);
}

QString RunsDrawer::emptyText() const {
    if (!rows_.isEmpty()) return tr("No recording matches");
    return complete_ ? tr("No recordings yet: a run is recorded while it trains")
                     : tr("The recordings are being read");
}

void RunsDrawer::refresh() {
    title_->setText(rows_.isEmpty() ? tr("Recordings") : tr("Recordings · %1").arg(rows_.size()));
    filter();
    list_->refresh();
}

QStringList RunsDrawer::paths() const {
    return list_->ids();
}

void RunsDrawer::addSelected() {
    QStringList chosen;
    for (const QString& path : list_->allSelected())
        if (const RecordingRow* of = row(path); of && of->damage.isEmpty()) chosen << path;
    if (!chosen.isEmpty()) Q_EMIT addRequested(chosen);
}

void RunsDrawer::trashSelected() {
    const RecordingRow* of = row(list_->selected());
    if (of && !of->live) Q_EMIT trashRequested(of->path, nameOf(*of));
}

}  // namespace normscope::widgets
