// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/space_dialog.h"

#include "widgets/figures/outcome_word.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QTableWidget>
#include <algorithm>
#include <set>

namespace normscope::widgets {

namespace {

constexpr int kPath = Qt::UserRole, kOrder = Qt::UserRole + 1;

/// A cell that is ordered by a number rather than by its text.
class NumberCell final : public QTableWidgetItem {
  public:
    NumberCell(const QString& text, qint64 order) : QTableWidgetItem(text) {
        setData(kOrder, order);
        setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    bool operator<(const QTableWidgetItem& other) const override {
        return data(kOrder).toLongLong() < other.data(kOrder).toLongLong();
    }
};

QString ageText(qint64 seconds) {
    constexpr qint64 kHour = 3600, kDay = 24 * kHour;
    if (seconds < kHour) return SpaceDialog::tr("%1 min").arg(std::max<qint64>(0, seconds / 60));
    if (seconds < 2 * kDay) return SpaceDialog::tr("%1 h").arg(seconds / kHour);
    return SpaceDialog::tr("%1 days").arg(seconds / kDay);
}

}  // namespace

QString sizeText(qint64 bytes) {
    return QLocale::c().formattedDataSize(bytes, 1, QLocale::DataSizeIecFormat);
}

SpaceDialog::SpaceDialog(QWidget* parent)
    : QDialog(parent),
      table_(new QTableWidget(0, 6, this)),
      total_(new QLabel(this)),
      undo_line_(new QLabel(this)),
      undo_(new QPushButton(tr("Undo"), this)),
      trash_(new QPushButton(this)) {
    setObjectName(QStringLiteral("spaceDialog"));
    setWindowTitle(tr("Space of the recordings"));
    table_->setObjectName(QStringLiteral("spaceTable"));
    table_->setAccessibleName(tr("Recordings"));
    table_->setHorizontalHeaderLabels(
        {tr("run"), tr("outcome"), tr("age"), tr("recording"), tr("checkpoints"), tr("together")});
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(Name, QHeaderView::Stretch);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setTabKeyNavigation(false);
    table_->installEventFilter(this);
    table_->setSortingEnabled(true);
    table_->sortByColumn(Together, Qt::DescendingOrder);
    total_->setObjectName(QStringLiteral("spaceTotal"));
    total_->setTextFormat(Qt::PlainText);
    total_->setWordWrap(true);
    undo_line_->setObjectName(QStringLiteral("spaceUndoLine"));
    undo_line_->setTextFormat(Qt::PlainText);
    undo_->setObjectName(QStringLiteral("spaceUndo"));
    trash_->setObjectName(QStringLiteral("spaceTrash"));
    auto* close = new QPushButton(tr("Close"), this);
    for (QPushButton* button : {undo_, trash_, close}) button->setAutoDefault(false);
    auto* undo_row = new QHBoxLayout;
    undo_row->addWidget(undo_line_, 1);
    undo_row->addWidget(undo_);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(trash_);
    buttons->addStretch(1);
    buttons->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->addWidget(total_);
    column->addWidget(table_, 1);
    column->addLayout(undo_row);
    column->addLayout(buttons);
    resize(760, 520);
    connect(table_, &QTableWidget::itemSelectionChanged, this, &SpaceDialog::showSelection);
    connect(trash_, &QPushButton::clicked, this, &SpaceDialog::requestTrash);
    connect(undo_, &QPushButton::clicked, this, &SpaceDialog::undoRequested);
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    setUndo({});
    showSelection();
}

void SpaceDialog::setRows(std::vector<SpaceRow> rows, const QString& folder, const QDateTime& now) {
    std::set<QString> chosen;
    for (const QTableWidgetItem* item : table_->selectedItems())
        if (item->column() == Name) chosen.insert(item->data(kPath).toString());
    rows_ = std::move(rows);
    qint64 recordings = 0, checkpoints = 0;
    table_->setSortingEnabled(false);  // rows keep their place while they are filled
    table_->setRowCount(static_cast<int>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const SpaceRow& row = rows_[i];
        const int at = static_cast<int>(i);
        recordings += row.bytes;
        checkpoints += row.checkpoint_bytes;
        auto* name =
            new QTableWidgetItem(row.kept.isEmpty() ? row.name : tr("%1 (%2)").arg(row.name, row.kept));
        name->setData(kPath, row.path);
        name->setToolTip(row.path);
        table_->setItem(at, Name, name);
        table_->setItem(at, State, new QTableWidgetItem(outcomeWord(row.state)));
        const qint64 age = row.written.secsTo(now);
        table_->setItem(at, Age, new NumberCell(ageText(age), age));
        table_->item(at, Age)->setToolTip(
            QLocale::c().toString(row.written, QStringLiteral("yyyy-MM-dd HH:mm")));
        table_->setItem(at, Recording, new NumberCell(sizeText(row.bytes), row.bytes));
        table_->setItem(at, Checkpoints,
                        new NumberCell(sizeText(row.checkpoint_bytes), row.checkpoint_bytes));
        const qint64 together = row.bytes + row.checkpoint_bytes;
        table_->setItem(at, Together, new NumberCell(sizeText(together), together));
    }
    table_->setSortingEnabled(true);
    for (int at = 0; at < table_->rowCount(); ++at)
        if (chosen.count(table_->item(at, Name)->data(kPath).toString()))
            for (int column = 0; column < table_->columnCount(); ++column)
                table_->item(at, column)->setSelected(true);
    total_->setText(
        tr("%1 recordings take %2: %3 and their checkpoints %4. They are in %5, and none is removed "
           "unless you remove it.")
            .arg(rows_.size())
            .arg(sizeText(recordings + checkpoints), sizeText(recordings), sizeText(checkpoints), folder));
    showSelection();
}

QStringList SpaceDialog::selected() const {
    QStringList paths;
    for (const QTableWidgetItem* item : table_->selectedItems()) {
        if (item->column() != Name) continue;
        const QString path = item->data(kPath).toString();
        const auto row =
            std::find_if(rows_.begin(), rows_.end(), [&](const SpaceRow& one) { return one.path == path; });
        if (row != rows_.end() && row->kept.isEmpty()) paths << path;
    }
    return paths;
}

void SpaceDialog::showSelection() {
    const QStringList paths = selected();
    qint64 bytes = 0;
    for (const SpaceRow& row : rows_)
        if (paths.contains(row.path)) bytes += row.bytes + row.checkpoint_bytes;
    trash_->setEnabled(!paths.isEmpty());
    trash_->setText(paths.isEmpty()
                        ? tr("Move to trash (Delete)")
                        : tr("Move %1 to trash, %2 (Delete)").arg(paths.size()).arg(sizeText(bytes)));
}

void SpaceDialog::setUndo(const QString& line) {
    undo_line_->setText(line);
    undo_->setEnabled(!line.isEmpty());
}

void SpaceDialog::requestTrash() {
    if (const QStringList paths = selected(); !paths.isEmpty()) Q_EMIT trashRequested(paths);
}

bool SpaceDialog::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete) {
        requestTrash();
        return true;
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace normscope::widgets
