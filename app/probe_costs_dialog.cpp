// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/probe_costs_dialog.h"

#include "app/lab/lab.h"
#include "core/probe/cadence.h"
#include "core/probe/registry.h"
#include "core/run/complete.h"
#include "core/run/probe_costs.h"
#include "widgets/plots/number_text.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QTableWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kRefreshMs = 500;

QString titleOf(ProbesPreset preset) {
    switch (preset) {
        case ProbesPreset::Economy:
            return ProbeCostsDialog::tr("&Economy: the cheap probes, rarely");
        case ProbesPreset::Standard:
            return ProbeCostsDialog::tr("&Standard: the usual probes");
        case ProbesPreset::Full:
            return ProbeCostsDialog::tr("&Full: every probe");
    }
    return {};
}

/// Of the selected run, with the vocabulary of its data where it is known.
Recipe completedOf(const LabRun& run) {
    Recipe recipe = run.recipe;
    if (const Recipe* measured = run.data->recipe.get(); recipe.stack.vocab == 0 && measured)
        recipe.stack.vocab = measured->stack.vocab;
    complete_without_data(recipe);
    return recipe;
}

}  // namespace

QString percentText(double share) {
    const double percent = 100 * share;
    return ProbeCostsDialog::tr("%1 %").arg(QString::number(percent, 'f', percent < 9.95 ? 1 : 0));
}

ProbeCostsDialog::ProbeCostsDialog(Lab& lab, QWidget* parent)
    : QDialog(parent), lab_(lab), total_(new QLabel(this)), times_(new QTableWidget(this)) {
    setObjectName(QStringLiteral("probeCosts"));
    setWindowTitle(tr("Probes and their cost"));
    auto* column = new QVBoxLayout(this);
    auto* text = new QLabel(
        tr("Which probes a training measures. Predicted: the time of all samples over that of the steps, by "
           "operation counts. A trained run keeps its samples; another choice asks for a new run."),
        this);
    text->setWordWrap(true);
    column->addWidget(text);
    for (const char* word : words_of<ProbesPreset>()) {
        auto* button = new QRadioButton(this);
        button->setObjectName(QStringLiteral("probes_") + QLatin1String(word));
        presets_.push_back(button);
        column->addWidget(button);
    }
    total_->setObjectName(QStringLiteral("probesTotal"));
    total_->setWordWrap(true);
    column->addSpacing(8);
    column->addWidget(total_);
    times_->setObjectName(QStringLiteral("probeTimes"));
    times_->setAccessibleName(tr("Measured time of each probe"));
    times_->setColumnCount(4);
    times_->setHorizontalHeaderLabels(
        {tr("Probe"), tr("Samples"), tr("ms a sample"), tr("Share of the steps")});
    times_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    times_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    times_->verticalHeader()->hide();
    times_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    times_->setSelectionBehavior(QAbstractItemView::SelectRows);
    times_->setTabKeyNavigation(false);
    column->addWidget(times_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    column->addWidget(buttons);
    resize(560, 560);
    showPredictions();
    showTimes();
    auto* refresh = new QTimer(this);
    connect(refresh, &QTimer::timeout, this, &ProbeCostsDialog::showTimes);
    refresh->start(kRefreshMs);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        for (std::size_t i = 0; i < presets_.size(); ++i)
            if (presets_[i]->isChecked() && !presets_[i]->property("current").toBool())
                lab_.setProbesPreset(static_cast<ProbesPreset>(i));
        accept();
    });
}

void ProbeCostsDialog::showPredictions() {
    Recipe recipe;
    try {
        recipe = completedOf(lab_.selected());
    } catch (const std::exception& error) {
        for (QRadioButton* button : presets_) button->setEnabled(false);
        presets_.front()->setText(QString::fromUtf8(error.what()));
        return;
    }
    for (std::size_t i = 0; i < presets_.size(); ++i) {
        const auto preset = static_cast<ProbesPreset>(i);
        const Recipe with = with_probes_of(preset, recipe);
        const ProbesShare share = predicted_share(with);
        const QString first = tr("predicted %1 of the first %2 steps' time")
                                  .arg(percentText(share.first))
                                  .arg(std::min<std::int64_t>(kDenseSteps, with.train.steps));
        const QString later =
            with.train.steps > kDenseSteps ? tr(", %1 after them").arg(percentText(share.later)) : QString();
        presets_[i]->setText(titleOf(preset) + QStringLiteral(" (") + first + later + QStringLiteral(")"));
        const bool current = without_planned_steps(with).probes == without_planned_steps(recipe).probes;
        presets_[i]->setProperty("current", current);
        presets_[i]->setChecked(current);
    }
}

void ProbeCostsDialog::showTimes() {
    const LabRun& run = lab_.selected();
    const ProbeTimes times = run.trained() ? probe_times(*run.data, run.replayed) : ProbeTimes();
    const QString name = QString::fromStdString(run.data->name);
    total_->setText(times.steps_ms > 0
                        ? tr("Measured, %1: all probes %2 of the time of %3 steps")
                              .arg(name, percentText(times.share(times.probes_ms)))
                              .arg(run.data->steps.rows())
                        : tr("Measured, %1: nothing yet, its training has not begun").arg(name));
    times_->setRowCount(static_cast<int>(times.probes.size()));
    for (std::size_t i = 0; i < times.probes.size(); ++i) {
        const ProbeTime& time = times.probes[i];
        const ProbeInfo* info = find_probe(time.probe);
        const QString cells[] = {info ? QString::fromUtf8(info->title) : QString::fromStdString(time.probe),
                                 QString::number(time.samples),
                                 widgets::numberText(time.ms / static_cast<double>(time.samples), 3),
                                 percentText(times.share(time.ms))};
        for (int c = 0; c < 4; ++c) {
            const int row = static_cast<int>(i);
            if (!times_->item(row, c)) times_->setItem(row, c, new QTableWidgetItem);
            times_->item(row, c)->setText(cells[c]);
            times_->item(row, c)->setTextAlignment(Qt::AlignVCenter |
                                                   (c == 0 ? Qt::AlignLeft : Qt::AlignRight));
        }
    }
}

}  // namespace normscope::app
