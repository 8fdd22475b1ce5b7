// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/difference_drawer.h"

#include "core/findings/run_difference_text.h"
#include "widgets/common/text_size.h"
#include "widgets/common/text_table.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/run_sample.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kDifferenceWidth = 560;

}  // namespace

DifferenceDrawer::DifferenceDrawer(QWidget* over, QWidget* parent) : Drawer(over, kDifferenceWidth, parent) {
    setObjectName(QStringLiteral("differenceDrawer"));
    setAccessibleName(tr("Where two runs differ"));
    auto* title = new QLabel(tr("Where two runs differ"), this);
    QFont bold = sized(font(), 14);
    bold.setBold(true);
    title->setFont(bold);
    copy_ = new QPushButton(tr("Copy as text"), this);
    copy_->setObjectName(QStringLiteral("differenceCopy"));
    auto* close = new GlyphButton(Glyph::Cross, tr("Close (Esc)"), this);
    auto* heading = new QHBoxLayout;
    heading->addWidget(title, 1);
    heading->addWidget(copy_);
    heading->addWidget(close);

    const auto box = [this](const char* name, const QString& spoken) {
        auto* combo = new QComboBox(this);
        combo->setObjectName(QLatin1String(name));
        combo->setAccessibleName(spoken);
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        connect(combo, &QComboBox::activated, this, &DifferenceDrawer::choose);
        return combo;
    };
    a_ = box("differenceA", tr("Run A"));
    b_ = box("differenceB", tr("Run B"));
    auto* both = new QHBoxLayout;
    both->addWidget(new QLabel(QStringLiteral("A"), this));
    both->addWidget(a_, 1);
    both->addSpacing(8);
    both->addWidget(new QLabel(QStringLiteral("B"), this));
    both->addWidget(b_, 1);

    first_ = paragraph("differenceFirst", this);
    QFont heavy = first_->font();
    heavy.setBold(true);
    first_->setFont(heavy);
    beyond_ = paragraph("differenceBeyond", this);
    rest_ = paragraph("differenceRest", this);
    show_ = new QPushButton(this);
    show_->setObjectName(QStringLiteral("differenceShow"));
    settings_ = textTable("differenceSettings", tr("Settings that differ"),
                          {tr("Setting"), QStringLiteral("A"), QStringLiteral("B")}, this);
    steps_ = textTable("differenceSteps", tr("Distance at later steps"),
                       {tr("Step"), tr("Loss of B − A, nat"), tr("Hidden states, relative")}, this);
    steps_->horizontalHeaderItem(2)->setToolTip(
        tr("The largest relative difference of a hidden state's RMS, where both runs were sampled"));

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->addLayout(heading);
    column->addLayout(both);
    column->addWidget(first_);
    column->addWidget(beyond_);
    column->addWidget(show_, 0, Qt::AlignLeft);
    column->addWidget(settings_);
    column->addWidget(steps_, 1);
    column->addWidget(rest_);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(copy_, &QPushButton::clicked, this, &DifferenceDrawer::copyText);
    connect(show_, &QPushButton::clicked, this, [this] {
        if (difference_ && difference_->first_bit)
            Q_EMIT stepRequested((difference_->first ? difference_->first : difference_->first_bit)->step);
    });
    const auto showRow = [this](int row) {
        if (difference_ && row >= 0 && static_cast<std::size_t>(row) < difference_->growth.size())
            Q_EMIT stepRequested(difference_->growth[static_cast<std::size_t>(row)].step);
    };
    connect(steps_, &QTableWidget::cellActivated, this, showRow);
    connect(steps_, &QTableWidget::cellClicked, this, showRow);
}

void DifferenceDrawer::open() {
    appear();
    a_->setFocus();
}

void DifferenceDrawer::choose() {
    Q_EMIT runsChosen(a_->currentData().toString(), b_->currentData().toString());
}

void DifferenceDrawer::setRuns(const std::vector<DifferenceRun>& runs, int a, int b) {
    // A list that is open stays: only another list fills the boxes again.
    const bool filled = runs == runs_;
    runs_ = runs;
    const Theme theme = themeOf(palette());
    for (auto [box, chosen] : {std::pair{a_, a}, std::pair{b_, b}}) {
        const QSignalBlocker quiet(box);
        if (!filled) box->clear();
        for (std::size_t i = 0; !filled && i < runs.size(); ++i)
            box->addItem(runIcon(runs[i].colour, theme), runs[i].name, runs[i].id);
        box->setCurrentIndex(chosen);
    }
}

void DifferenceDrawer::setDifference(const std::optional<RunDifference>& difference) {
    difference_ = difference;
    showTexts();
    fillSettings();
    fillSteps();
}

void DifferenceDrawer::showTexts() {
    const bool found = difference_ && difference_->first_bit;
    copy_->setEnabled(difference_.has_value());
    show_->setVisible(found);
    beyond_->setVisible(found);
    settings_->setVisible(difference_ && !difference_->recipe.empty());
    steps_->setVisible(difference_.has_value() && !difference_->growth.empty());
    rest_->setVisible(difference_.has_value());
    if (!difference_) return first_->setText(tr("A comparison of two runs needs two of them."));
    first_->setText(
        found ? tr("First difference: %1").arg(QString::fromStdString(place_text(*difference_->first_bit)))
              : tr("No difference in any value that both recorded."));
    const QString tolerance = numberText(difference_->tolerance, 2);
    if (found) {
        const auto& first = difference_->first;
        const bool at_once = first && place_text(*first) == place_text(*difference_->first_bit);
        beyond_->setText(at_once ? tr("It is beyond %1 relative, which is more than rounding.").arg(tolerance)
                         : first ? tr("First beyond %1 relative, which is more than rounding: %2")
                                       .arg(tolerance, QString::fromStdString(place_text(*first)))
                                 : tr("None beyond %1 relative: rounding.").arg(tolerance));
        show_->setText(tr("Show step %1").arg(qlonglong((first ? first : difference_->first_bit)->step)));
    }
    QStringList rest{tr("Steps that both have: %1").arg(qlonglong(difference_->steps_compared))};
    if (difference_->recipe.empty()) rest << tr("The recipes are equal");
    for (const std::string& line : difference_->not_compared)
        rest << tr("Not compared: %1").arg(QString::fromStdString(line));
    rest_->setText(rest.join(QStringLiteral("\n")));
}

void DifferenceDrawer::fillSettings() {
    if (!difference_) return settings_->setRowCount(0);
    settings_->setRowCount(static_cast<int>(difference_->recipe.size()));
    for (int row = 0; row < settings_->rowCount(); ++row) {
        const RecipeDifference& key = difference_->recipe[static_cast<std::size_t>(row)];
        setCell(settings_, row, 0, QString::fromStdString(key.key));
        setCell(settings_, row, 1, QString::fromStdString(key.a));
        setCell(settings_, row, 2, QString::fromStdString(key.b));
    }
    // As high as its rows, of which six are seen at once.
    const int rows = std::min(settings_->rowCount(), 6);
    settings_->setFixedHeight(settings_->horizontalHeader()->sizeHint().height() + 4 +
                              rows * settings_->verticalHeader()->defaultSectionSize());
}

void DifferenceDrawer::fillSteps() {
    if (!difference_) return steps_->setRowCount(0);
    steps_->setRowCount(static_cast<int>(difference_->growth.size()));
    for (int row = 0; row < steps_->rowCount(); ++row) {
        const StepDistance& at = difference_->growth[static_cast<std::size_t>(row)];
        setCell(steps_, row, 0, QString::number(at.step));
        setCell(steps_, row, 1, numberText(at.loss, 4));
        setCell(steps_, row, 2, std::isnan(at.stream) ? tr("not sampled") : numberText(at.stream, 4));
    }
}

void DifferenceDrawer::copyText() const {
    if (difference_)
        QGuiApplication::clipboard()->setText(tr("A: %1\nB: %2\n").arg(a_->currentText(), b_->currentText()) +
                                              QString::fromStdString(difference_text(*difference_)));
}

}  // namespace normscope::widgets
