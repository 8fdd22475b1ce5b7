// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_table.h"

#include "widgets/common/text_size.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/run_sample.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kRunTableWidth = 980;
enum RunTableColumn {
    kName,
    kDiffers,
    kState,
    kSteps,
    kLoss,
    kHeldOut,
    kBest,
    kGradient,
    kEvent,
    kNote,
    kColumns
};

struct ColumnText {
    const char *title, *tip, *csv;
};
constexpr ColumnText kColumnTexts[kColumns] = {
    {QT_TRANSLATE_NOOP("RunTable", "Run"), "", "run"},
    {QT_TRANSLATE_NOOP("RunTable", "Differs in"),
     QT_TRANSLATE_NOOP("RunTable", "The settings in which the runs differ"), "differs_in"},
    {QT_TRANSLATE_NOOP("RunTable", "Outcome"), "", "outcome"},
    {QT_TRANSLATE_NOOP("RunTable", "Steps"), QT_TRANSLATE_NOOP("RunTable", "Steps that it has trained"),
     "steps"},
    {QT_TRANSLATE_NOOP("RunTable", "Final loss"),
     QT_TRANSLATE_NOOP("RunTable", "Nat; mean of the last 20 training batches"), "final_loss"},
    {QT_TRANSLATE_NOOP("RunTable", "Held-out loss"),
     QT_TRANSLATE_NOOP("RunTable", "Nat; the newest loss on held-out sequences"), "held_out_loss"},
    {QT_TRANSLATE_NOOP("RunTable", "Lowest loss"),
     QT_TRANSLATE_NOOP("RunTable", "Nat; lowest mean of 20 training batches in a row"), "best_loss"},
    {QT_TRANSLATE_NOOP("RunTable", "Gradient, 1 over last"),
     QT_TRANSLATE_NOOP("RunTable",
                       "Gradient norm after layer 1 over that after the last; mean of the last 20 batches"),
     "gradient_first_over_last"},
    {QT_TRANSLATE_NOOP("RunTable", "First event"), "", "first_event"},
    {QT_TRANSLATE_NOOP("RunTable", "Note"), QT_TRANSLATE_NOOP("RunTable", "Ctrl+Shift+I opens the notes"),
     "note"},
};

QString translated(const char* text) {
    return QCoreApplication::translate("RunTable", text);
}

double number(const RunTableRow& row, int column) {
    switch (column) {
        case kSteps:
            return static_cast<double>(row.steps);
        case kLoss:
            return row.loss;
        case kHeldOut:
            return row.held_out;
        case kBest:
            return row.best;
        case kGradient:
            return row.gradient;
        default:
            return kNaN;
    }
}

bool isNumber(int column) {
    return column >= kSteps && column <= kGradient;
}

QString text(const RunTableRow& row, int column) {
    switch (column) {
        case kName:
            return row.name;
        case kDiffers:
            return row.differs;
        case kState:
            return row.state == RunState::Prepared ? translated(QT_TRANSLATE_NOOP("RunTable", "ready"))
                                                   : QString::fromUtf8(run_state_word(row.state));
        case kEvent:
            return row.first_event;
        case kNote:
            return row.note.simplified();  // in one line
        case kSteps:
            return QString::number(row.steps);
        default:
            return std::isnan(number(row, column)) ? QString() : numberText(number(row, column), 4);
    }
}

/// Sorts numbers as numbers; those that are missing come last in either order.
class Cell : public QTableWidgetItem {
  public:
    Cell(const QString& text, double value, bool is_number) : QTableWidgetItem(text), value_(value) {
        numeric_ = is_number;
        if (is_number) setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    bool operator<(const QTableWidgetItem& other) const override {
        if (!numeric_) return text().localeAwareCompare(other.text()) < 0;
        const double theirs = static_cast<const Cell&>(other).value_;
        const bool descending =
            tableWidget() && tableWidget()->horizontalHeader()->sortIndicatorOrder() == Qt::DescendingOrder;
        if (std::isnan(value_) || std::isnan(theirs))
            return std::isnan(value_) != std::isnan(theirs) && (std::isnan(theirs) != descending);
        return value_ < theirs;
    }

  private:
    double value_;
    bool numeric_ = false;
};

QByteArray quoted(QString text) {
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n')) return text.toUtf8();
    return '"' + text.replace(u'"', QStringLiteral("\"\"")).toUtf8() + '"';
}

}  // namespace

RunTable::RunTable(QWidget* over, QWidget* parent)
    : Drawer(over, kRunTableWidth, parent),
      title_(new QLabel(this)),
      table_(new QTableWidget(0, kColumns, this)),
      csv_(new QPushButton(tr("Save as CSV …"), this)) {
    setObjectName(QStringLiteral("runTable"));
    setAccessibleName(tr("Table of all runs"));
    QFont bold = sized(font(), 14);
    bold.setBold(true);
    title_->setFont(bold);
    csv_->setObjectName(QStringLiteral("runTableCsv"));
    auto* close = new QPushButton(tr("Close"), this);
    close->setObjectName(QStringLiteral("runTableClose"));
    QStringList names;
    for (const ColumnText& column : kColumnTexts) names << translated(column.title);
    table_->setHorizontalHeaderLabels(names);
    for (int column = 0; column < kColumns; ++column) {
        if (isNumber(column))
            table_->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        table_->horizontalHeaderItem(column)->setToolTip(
            *kColumnTexts[column].tip ? translated(kColumnTexts[column].tip) : QString());
    }
    table_->setObjectName(QStringLiteral("runTableRows"));
    table_->setAccessibleName(tr("Runs"));
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setShowGrid(false);
    table_->setTabKeyNavigation(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(26);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->horizontalHeader()->setStretchLastSection(true);
    table_->setSortingEnabled(true);
    table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);

    auto* heading = new QHBoxLayout;
    heading->addWidget(title_, 1);
    heading->addWidget(csv_);
    heading->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->addLayout(heading);
    column->addWidget(table_, 1);
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    connect(csv_, &QPushButton::clicked, this, &RunTable::csvRequested);
    connect(table_, &QTableWidget::cellClicked, this, &RunTable::choose);
    connect(table_, &QTableWidget::cellActivated, this, &RunTable::choose);
}

void RunTable::open() {
    appear();
    table_->setFocus();
}

void RunTable::choose() {
    if (const QString id = idAt(table_->currentRow()); !id.isEmpty()) Q_EMIT runChosen(id);
}

QString RunTable::idAt(int row) const {
    const QTableWidgetItem* name = table_->item(row, kName);
    return name ? name->data(Qt::UserRole).toString() : QString();
}

void RunTable::setRows(const std::vector<RunTableRow>& rows, const QString& selected) {
    title_->setText(rows.size() == 1 ? tr("1 run") : tr("%1 runs").arg(rows.size()));
    const Theme theme = themeOf(palette());
    const QSignalBlocker blocker(table_);
    const QString current = selected == selected_ ? idAt(table_->currentRow()) : selected;
    selected_ = selected;
    table_->setSortingEnabled(false);
    table_->setRowCount(static_cast<int>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (int column = 0; column < kColumns; ++column) {
            auto* cell = new Cell(text(rows[i], column), number(rows[i], column), isNumber(column));
            cell->setToolTip(cell->text());
            if (column == kName) {
                cell->setData(Qt::UserRole, rows[i].id);
                cell->setIcon(runIcon(rows[i].colour, theme));
            }
            table_->setItem(static_cast<int>(i), column, cell);
        }
    table_->setSortingEnabled(true);
    if (rows.size() != rows_.size()) table_->resizeColumnsToContents();
    for (int column = 0; column < kColumns; ++column)
        table_->setColumnWidth(column, std::min(table_->columnWidth(column), 240));
    rows_ = rows;
    for (int row = 0; row < table_->rowCount(); ++row)
        if (idAt(row) == current) table_->setCurrentCell(row, std::max(0, table_->currentColumn()));
}

QByteArray runTableCsv(const std::vector<RunTableRow>& rows) {
    QByteArray csv;
    for (int column = 0; column < kColumns; ++column)
        csv += (column > 0 ? "," : "") + QByteArray(kColumnTexts[column].csv);
    csv += "\r\n";
    for (const RunTableRow& row : rows) {
        for (int column = 0; column < kColumns; ++column) {
            if (column > 0) csv += ',';
            if (!isNumber(column))
                csv += quoted(text(row, column));
            else if (column == kSteps)
                csv += QByteArray::number(static_cast<qlonglong>(row.steps));
            else if (!std::isnan(number(row, column)))
                csv += QByteArray::number(number(row, column), 'g', 17);
        }
        csv += "\r\n";
    }
    return csv;
}

}  // namespace normscope::widgets
