// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/probe_costs_dialog.h"

#include "core/probe/interface/cadence.h"
#include "core/probe/registry.h"
#include "core/run/probe_steps.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>

namespace normscope::widgets {

namespace {

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

/// The probes without planned steps and measured places.
std::vector<ProbePlan> withoutPlaces(const Recipe& recipe) {
    std::vector<ProbePlan> probes = without_planned_steps(recipe).probes;
    select_places(probes, {});
    return probes;
}

}  // namespace

QString percentText(double share) {
    const double percent = 100 * share;
    return ProbeCostsDialog::tr("%1 %").arg(QString::number(percent, 'f', percent < 9.95 ? 1 : 0));
}

ProbeCostsDialog::ProbeCostsDialog(Recipe recipe, std::optional<Recipe> completed, const QString& problem,
                                   QWidget* parent)
    : QDialog(parent),
      recipe_(std::move(recipe)),
      completed_(std::move(completed)),
      only_(new QLineEdit(this)),
      only_problem_(new QLabel(this)),
      total_(new QLabel(this)),
      times_(new QTableWidget(this)) {
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
    auto* only_title = new QLabel(tr("&Measure only:"), this);
    only_title->setBuddy(only_);
    only_->setObjectName(QStringLiteral("probesOnly"));
    only_->setAccessibleName(tr("Measure only"));
    only_->setPlaceholderText(QStringLiteral("blocks.0, blocks.11.*"));
    only_->setClearButtonEnabled(true);
    const std::optional<std::string> common = common_selection(recipe_.probes);
    only_before_ = QString::fromStdString(common.value_or(""));
    only_->setText(only_before_);
    only_problem_->setObjectName(QStringLiteral("probesOnlyProblem"));
    only_problem_->setWordWrap(true);
    only_problem_->setMinimumHeight(3 * only_problem_->fontMetrics().height());  // the rest does not move
    only_problem_->setAlignment(Qt::AlignTop);
    auto* only_row = new QHBoxLayout;
    only_row->addWidget(only_title);
    only_row->addWidget(only_, 1);
    column->addSpacing(8);
    column->addLayout(only_row);
    column->addWidget(only_problem_);
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
    ok_ = buttons->button(QDialogButtonBox::Ok);
    resize(560, 640);
    showPredictions(problem);
    checkPlaces();
    connect(only_, &QLineEdit::textChanged, this, &ProbeCostsDialog::checkPlaces);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, &ProbeCostsDialog::apply);
}

std::optional<PlaceSelection> ProbeCostsDialog::changedPlaces() const {
    if (only_->text() == only_before_) return std::nullopt;
    const std::string where = tr("Measure only").toStdString();
    PlaceSelection places = PlaceSelection::parse(only_->text().toStdString(), where);
    places.check(recipe_.stack.depth, where);
    return places;
}

void ProbeCostsDialog::checkPlaces() {
    QColor colour = palette().color(QPalette::WindowText);
    try {
        const std::optional<PlaceSelection> places = changedPlaces();
        const bool differ = !common_selection(recipe_.probes);
        only_problem_->setText(
            differ && !places
                ? tr("Each probe keeps the places that the recipe gives it.")
                : tr("Patterns over the names of blocks, sub-layers, norms and tensors; blocks count from 0. "
                     "Empty: everything. Other places are gaps in the panels; growth and paths measure the "
                     "whole stack."));
        ok_->setEnabled(true);
        for (std::size_t i = 0; i < presets_.size(); ++i) showPrediction(i, places);
    } catch (const std::exception& error) {
        only_problem_->setText(QString::fromUtf8(error.what()));
        colour = readable(themeOf(palette()).bad, palette().color(QPalette::Window));
        ok_->setEnabled(false);
        for (std::size_t i = 0; i < presets_.size(); ++i) showPrediction(i, std::nullopt);
    }
    QPalette colours = only_problem_->palette();
    colours.setColor(QPalette::WindowText, colour);
    only_problem_->setPalette(colours);
    only_->setAccessibleDescription(only_problem_->text());
}

void ProbeCostsDialog::apply() {
    std::optional<ProbesPreset> preset;
    for (std::size_t i = 0; i < presets_.size(); ++i)
        if (presets_[i]->isChecked() && !presets_[i]->property("current").toBool())
            preset = static_cast<ProbesPreset>(i);
    if (const auto places = changedPlaces(); preset || places) Q_EMIT chosen(preset, places);
    accept();
}

void ProbeCostsDialog::showPredictions(const QString& problem) {
    if (!completed_) {
        for (QRadioButton* button : presets_) button->setEnabled(false);
        only_->setEnabled(false);
        presets_.front()->setText(problem);
        return;
    }
    for (std::size_t i = 0; i < presets_.size(); ++i) {
        showPrediction(i, std::nullopt);
        const Recipe with = with_probes_of(static_cast<ProbesPreset>(i), *completed_);
        const bool current = withoutPlaces(with) == withoutPlaces(*completed_);
        presets_[i]->setProperty("current", current);
        presets_[i]->setChecked(current);
    }
}

void ProbeCostsDialog::showPrediction(std::size_t i, const std::optional<PlaceSelection>& places) {
    if (!completed_) return;
    const auto preset = static_cast<ProbesPreset>(i);
    Recipe with = *completed_;
    with.probes = probes_with(with, preset, places);
    plan_probe_steps(with);
    const ProbesShare share = predicted_share(with);
    const QString first = tr("predicted %1 of the first %2 steps' time")
                              .arg(percentText(share.first))
                              .arg(std::min<std::int64_t>(kDenseSteps, with.train.steps));
    const QString later =
        with.train.steps > kDenseSteps ? tr(", %1 after them").arg(percentText(share.later)) : QString();
    presets_[i]->setText(titleOf(preset) + QStringLiteral(" (") + first + later + QStringLiteral(")"));
}

void ProbeCostsDialog::setTimes(const QString& run, std::size_t steps, const ProbeTimes& times) {
    total_->setText(times.steps_ms > 0
                        ? tr("Measured, %1: all probes %2 of the time of %3 steps")
                              .arg(run, percentText(times.share(times.probes_ms)))
                              .arg(steps)
                        : tr("Measured, %1: nothing yet, its training has not begun").arg(run));
    times_->setRowCount(static_cast<int>(times.probes.size()));
    for (std::size_t i = 0; i < times.probes.size(); ++i) {
        const ProbeTime& time = times.probes[i];
        const ProbeInfo* info = find_probe(time.probe);
        const QString cells[] = {info ? QString::fromUtf8(info->title) : QString::fromStdString(time.probe),
                                 QString::number(time.samples),
                                 numberText(time.ms / static_cast<double>(time.samples), 3),
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

}  // namespace normscope::widgets
