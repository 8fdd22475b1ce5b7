// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/step_cost_drawer.h"

#include "core/base/number_text.h"
#include "widgets/common/text_size.h"
#include "widgets/common/text_table.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/glyph.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

namespace normscope::widgets {

namespace {

constexpr int kStepCostWidth = 640;

}  // namespace

StepCostDrawer::StepCostDrawer(QWidget* over, QWidget* parent) : Drawer(over, kStepCostWidth, parent) {
    setObjectName(QStringLiteral("stepCostDrawer"));
    setAccessibleName(tr("What limits a training step on a card"));
    auto* title = new QLabel(tr("What limits a training step on a card"), this);
    QFont bold = sized(font(), 14);
    bold.setBold(true);
    title->setFont(bold);
    copy_ = new QPushButton(tr("Copy as text"), this);
    copy_->setObjectName(QStringLiteral("stepCostCopy"));
    auto* close = new GlyphButton(Glyph::Cross, tr("Close (Esc)"), this);
    auto* heading = new QHBoxLayout;
    heading->addWidget(title, 1);
    heading->addWidget(copy_);
    heading->addWidget(close);

    cards_ = new QComboBox(this);
    cards_->setObjectName(QStringLiteral("stepCostCard"));
    cards_->setAccessibleName(tr("Card"));
    for (const Card& card : normscope::cards())
        cards_->addItem(QString::fromUtf8(card.name), QLatin1String(card.id));
    totals_ = paragraph("stepCostTotals", this);
    QFont heavy = totals_->font();
    heavy.setBold(true);
    totals_->setFont(heavy);
    time_ = paragraph("stepCostTime", this);
    table_ = textTable(
        "stepCostTable", tr("Operations of a step"),
        {tr("Operation"), tr("Calls"), tr("Bytes"), tr("FLOP"), tr("µs"), tr("Share"), tr("Limited by")},
        this);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    note_ = paragraph("stepCostNote", this);
    note_->setText(
        tr("Counted without a card and without probes. A call takes its launch, its bytes at full bandwidth "
           "or its "
           "operations at peak, whichever is longest. A step on a card takes longer, but for what its calls "
           "find in a "
           "cache."));

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->addLayout(heading);
    column->addWidget(cards_);
    column->addWidget(totals_);
    column->addWidget(time_);
    column->addWidget(table_, 1);
    column->addWidget(note_);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(copy_, &QPushButton::clicked, this, &StepCostDrawer::copyText);
    connect(cards_, &QComboBox::activated, this, &StepCostDrawer::cardChosen);
}

void StepCostDrawer::open() {
    appear();
    cards_->setFocus();
}

QString StepCostDrawer::card() const {
    return cards_->currentData().toString();
}

void StepCostDrawer::setCounting(const QString& run) {
    setProblem(run, tr("The step is being counted…"));
}

void StepCostDrawer::setProblem(const QString& run, const QString& line) {
    totals_->setText(run);
    time_->setText(line);
    table_->setRowCount(0);
    copy_->setEnabled(false);
}

void StepCostDrawer::setCount(const QString& run, const StepCount& count, const QString& time) {
    totals_->setText(QStringLiteral("%1: %2").arg(run, QString::fromStdString(totals_text(count))));
    time_->setText(time);
    table_->setRowCount(static_cast<int>(count.operations.size()));
    for (int row = 0; row < table_->rowCount(); ++row) {
        const CountedOperation& o = count.operations[static_cast<std::size_t>(row)];
        const QStringList texts{
            QString::fromStdString(o.name),
            QString::number(o.calls),
            QString::fromStdString(with_prefix(o.bytes, "B")),
            QString::fromStdString(with_prefix(o.flops, "")).trimmed(),
            numberText(o.counted_seconds * 1e6, 3),
            tr("%1 %").arg(numberText(100 * o.counted_seconds / count.counted_seconds, 2)),
            QLatin1String(limit_word(o.limit))};
        for (int i = 0; i < texts.size(); ++i) setCell(table_, row, i, texts[i]);
    }
    copy_->setEnabled(true);
}

void StepCostDrawer::copyText() const {
    QStringList lines{cards_->currentText(), totals_->text(), time_->text()};
    QStringList header;
    for (int i = 0; i < table_->columnCount(); ++i) header << table_->horizontalHeaderItem(i)->text();
    lines << header.join(QLatin1Char('\t'));
    for (int row = 0; row < table_->rowCount(); ++row) {
        QStringList cells;
        for (int i = 0; i < table_->columnCount(); ++i) cells << table_->item(row, i)->text();
        lines << cells.join(QLatin1Char('\t'));
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace normscope::widgets
