// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sweep/sweep_band.h"

#include "core/sweep/sweep_map.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/figures/sweep/sweep_figure.h"
#include "widgets/plots/glyph.h"
#include "widgets/runs/bar_button.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QTextDocumentFragment>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

QString bandNumber(std::size_t value, const QString& word) {
    return QStringLiteral(
               "<td style='padding-right: 22px'><span style='font-size: 20px; font-weight: 600'>%1</span>"
               "<br><span style='font-size: 11px'>%2</span></td>")
        .arg(value)
        .arg(word);
}

/// "DeepNorm at learning rate 3×10⁻³".
QString nameOf(const SweepSpec& spec, const std::vector<std::string>& values) {
    QStringList words;
    for (std::size_t key = 0; key < spec.grid.size(); ++key) {
        const SweepAxis& axis = spec.grid[key];
        const auto at = std::find(axis.values.begin(), axis.values.end(), values[key]) - axis.values.begin();
        const QString value = sweepValueName(axis, static_cast<std::size_t>(at));
        words << (axis.key == "stack.scheme" ? value : sweepKeyName(axis.key) + u' ' + value);
    }
    return words.join(QStringLiteral(", "));
}

}  // namespace

SweepBand::SweepBand(QWidget* parent)
    : QWidget(parent),
      count_(new QLabel(this)),
      outcomes_(new QLabel(this)),
      best_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      open_(new BarButton(tr("Open the best of each row"), BarButton::Look::Outlined, this)),
      action_(new BarButton({}, BarButton::Look::Outlined, this)) {
    setObjectName(QStringLiteral("sweepBand"));
    setAccessibleName(tr("Sweep"));
    open_->setObjectName(QStringLiteral("sweepOpenBest"));
    action_->setObjectName(QStringLiteral("sweepAction"));
    progress_->setTextVisible(false);
    progress_->setFixedHeight(4);
    progress_->setAccessibleName(tr("Runs that have ended"));
    for (QLabel* label : {count_, outcomes_, best_}) label->setTextFormat(Qt::RichText);
    best_->setWordWrap(true);
    best_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
    best_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 6, 12, 6);
    row->setSpacing(20);
    auto* left = new QVBoxLayout;
    left->setSpacing(4);
    left->addStretch(1);
    left->addWidget(count_);
    left->addWidget(progress_);
    left->addStretch(1);
    row->addLayout(left);
    row->addWidget(outcomes_, 0, Qt::AlignVCenter);
    row->addWidget(best_, 1);
    auto* right = new QVBoxLayout;
    right->setSpacing(4);
    for (BarButton* button : {open_, action_}) {
        button->setFixedWidth(std::max(open_->fullWidth(), action_->widthFor(tr("Resume the sweep"))));
        right->addWidget(button);
    }
    row->addLayout(right);
    connect(open_, &QPushButton::clicked, this, &SweepBand::openBest);
    connect(action_, &QPushButton::clicked, this, &SweepBand::stopOrResume);
}

void SweepBand::setSweep(const ShownSweep& sweep, SweepActivity activity) {
    const bool running = activity != SweepActivity::Idle, stopping = activity == SweepActivity::Stopping;
    const SweepResults& results = sweep.results;
    const SweepCell all = sweep_cells(results, {}).front();
    const std::size_t total = results.runs.size(), ended = results.rows.size(), left = total - ended;
    const QString state =
        !running   ? (left > 0 ? tr("%1 not trained yet").arg(left) : tr("every run has ended"))
        : stopping ? tr("stopping")
        : sweep.count.remaining_seconds >= 0 ? tr("%1 in training, %2 left")
                                                   .arg(sweep.training.size())
                                                   .arg(aboutTime(sweep.count.remaining_seconds))
                                             : tr("%1 in training").arg(sweep.training.size());
    count_->setText(QStringLiteral("<span style='font-size: 20px; font-weight: 600'>%1</span> "
                                   "<span style='font-size: 12px'>%2</span><br>"
                                   "<span style='font-size: 11px'>%3</span>")
                        .arg(ended)
                        .arg(tr("of %1 runs").arg(total), state));
    count_->setMinimumWidth(170);
    progress_->setMaximum(static_cast<int>(total));
    progress_->setValue(static_cast<int>(ended));
    QString cells;
    for (const auto& [outcome, count] : all.outcomes) cells += bandNumber(count, outcomeWord(outcome));
    if (left > sweep.training.size()) cells += bandNumber(left - sweep.training.size(), tr("queued"));
    outcomes_->setText(QStringLiteral("<table cellspacing='0'><tr>%1</tr></table>").arg(cells));

    // Of the cells over all keys, the one with the lowest median, and the seeds' outcomes there.
    std::vector<std::size_t> keys;
    for (std::size_t key = 0; key < results.spec.grid.size(); ++key) keys.push_back(key);
    const SweepCell* lowest = nullptr;
    const std::vector<SweepCell> fine = sweep_cells(results, keys);
    for (const SweepCell& cell : fine)
        if (cell.median_loss && std::isfinite(*cell.median_loss) &&
            (!lowest || *cell.median_loss < *lowest->median_loss))
            lowest = &cell;
    if (!lowest) {
        best_->setText(running ? QString() : tr("No run has a final loss yet"));
    } else {
        const QString name = nameOf(results.spec, results.runs[lowest->runs.front()].values);
        best_->setText(
            QStringLiteral("<span style='font-size: 11px'>%1</span><br><b style='font-size: 12px'>%2</b>"
                           "<br><span style='font-size: 11px'>%3</span>")
                .arg(
                    left > 0 ? tr("Lowest so far") : tr("Lowest final loss"),
                    tr("%1: %2 nat").arg(name, QString::number(*lowest->median_loss, 'f', 2)).toHtmlEscaped(),
                    (results.spec.seeds.size() > 1
                         ? tr("median of %1, %2").arg(lowest->ended()).arg(sweepOutcomes(*lowest))
                         : sweepOutcomes(*lowest))
                        .toHtmlEscaped()));
    }
    open_->setEnabled(lowest != nullptr);
    action_->setLabel(running ? tr("Stop the sweep") : tr("Resume the sweep"));
    action_->setEnabled(running ? !stopping : left > 0 || all.outcomes.count(RunState::Failed));
    setAccessibleDescription(texts().join(QStringLiteral(". ")));
}

QStringList SweepBand::texts() const {
    QStringList all;
    for (const QLabel* label : {count_, outcomes_, best_})
        all << QTextDocumentFragment::fromHtml(label->text()).toPlainText();
    return all;
}

}  // namespace normscope::widgets
