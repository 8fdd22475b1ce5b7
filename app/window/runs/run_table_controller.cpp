// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/run_table_controller.h"

#include "app/lab/lab.h"
#include "app/lab/notes.h"
#include "core/sweep/sweep_results.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/save_dialog.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/figures/save_bytes.h"
#include "widgets/runs/run_table.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope::app {

namespace {

constexpr int kTableInterval = 250;  // ms between refreshes while runs train

/// Of the last `kLossWindow` finite values; NaN without one.
double meanOfLast(const std::vector<double>* values) {
    double sum = 0;
    int count = 0;
    for (std::size_t i = values ? values->size() : 0; i > 0 && values->size() - i < kLossWindow; --i)
        if (const double value = (*values)[i - 1]; std::isfinite(value)) {
            sum += value;
            ++count;
        }
    return count > 0 ? sum / count : kNaN;
}

/// The first event that is about the training, not about its recording.
QString firstEvent(const RunData& run) {
    static const std::set<std::string> kOfTheRecording{"checkpoint", "resume",  "series",
                                                       "weights",    "watches", "steps"};
    const auto first = std::find_if(run.events.begin(), run.events.end(),
                                    [](const RunEvent& event) { return !kOfTheRecording.count(event.kind); });
    if (first == run.events.end()) return {};
    const QString text = QString::fromStdString(first->text);
    return text.startsWith(u"step ") ? text
                                     : QObject::tr("step %1: %2").arg(qlonglong(first->step)).arg(text);
}

}  // namespace

std::vector<widgets::RunTableRow> runTableRows(const Lab& lab) {
    const std::vector<LabRun>& runs = lab.comparison().runs;
    std::vector<Recipe> recipes;
    for (const LabRun& run : runs) recipes.push_back(run.committed() ? run.live : run.recipe);
    const std::vector<QStringList> differences = widgets::runDifferences(recipes);
    std::vector<widgets::RunTableRow> rows;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunData& data = *runs[i].data;
        const SweepRow known = sweep_row({}, data);
        widgets::RunTableRow row;
        row.id = QString::fromStdString(runs[i].id);
        row.name = QString::fromStdString(data.name);
        row.colour = static_cast<int>(lab.view().groups().groupOf(i));
        row.differs = differences[i].join(QStringLiteral(" · "));
        row.state =
            known.state == RunState::Prepared && !runs[i].rejection.empty() ? RunState::Failed : known.state;
        row.steps = known.steps;
        row.loss = known.final_loss.value_or(kNaN);
        row.best = known.best_loss.value_or(kNaN);
        row.held_out = known.held_out_loss.value_or(kNaN);
        row.gradient = meanOfLast(data.steps.find("grad_ratio"));
        row.first_event = firstEvent(data);
        row.note = lab.notes().ofRun(runs[i].id);
        rows.push_back(std::move(row));
    }
    return rows;
}

RunTableController::RunTableController(Lab& lab, QWidget* area, widgets::Banner& banner, QWidget* window)
    : QObject(window),
      lab_(lab),
      banner_(banner),
      window_(window),
      table_(new widgets::RunTable(area, window)),
      later_(this, kTableInterval, [this] { refresh(); }) {
    const auto later = [this] {
        if (table_->isVisible()) later_.request();
    };
    for (const auto signal : {&Lab::runsChanged, &Lab::trainingChanged, &Lab::viewChanged})
        connect(&lab_, signal, this, later);
    connect(&lab_, &Lab::dataChanged, this, later);
    connect(&lab_.notes(), &Notes::changed, this, later);
    connect(table_, &widgets::RunTable::runChosen, this, [this](const QString& id) {
        const std::vector<LabRun>& runs = lab_.comparison().runs;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (QString::fromStdString(runs[i].id) == id) lab_.runs().select(static_cast<int>(i));
    });
    connect(table_, &widgets::RunTable::csvRequested, this, &RunTableController::saveCsv);
}

void RunTableController::toggle() {
    if (table_->isVisible()) return table_->hide();
    refresh();
    table_->open();
}

void RunTableController::refresh() {
    table_->setRows(runTableRows(lab_), QString::fromStdString(lab_.comparison().selectedRun().id));
}

void RunTableController::saveCsv() {
    const QString ending = QStringLiteral("csv");
    const QString path = widgets::chooseSavePath(window_, tr("Save CSV"), QStringLiteral("runs.csv"), ending,
                                                 QStringLiteral("*.csv"));
    if (path.isEmpty()) return;
    try {
        widgets::saveBytes(path, widgets::runTableCsv(runTableRows(lab_)));
        banner_.showMessage(tr("Saved %1").arg(path));
    } catch (const std::exception& error) {
        banner_.showMessage(QString::fromUtf8(error.what()));
    }
}

}  // namespace normscope::app
