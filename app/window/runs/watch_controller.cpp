// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/watch_controller.h"

#include "app/lab/lab.h"
#include "core/run/complete.h"
#include "core/run/probe_costs.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/probe_costs_dialog.h"
#include "widgets/dialogs/watch_dialog.h"

#include <QEvent>
#include <QTimer>

namespace normscope::app {

using widgets::ProbeCostsDialog;

namespace {

constexpr int kRefresh = 500;  // ms, of the times of the probes

/// Of the selected run, with the vocabulary of its data where it is known.
Recipe completedOf(const LabRun& run) {
    Recipe recipe = run.recipe;
    if (const Recipe* measured = run.data->recipe.get(); recipe.stack.vocab == 0 && measured)
        recipe.stack.vocab = measured->stack.vocab;
    complete_without_data(recipe);
    return recipe;
}

void showTimes(ProbeCostsDialog& dialog, const LabRun& run) {
    dialog.setTimes(QString::fromStdString(run.data->name), run.data->steps.rows(),
                    run.trained() ? probe_times(*run.data, run.replayed) : ProbeTimes());
}

QString pausedText(const QString& text) {
    return WatchController::tr("Paused. %1").arg(text);
}

}  // namespace

WatchController::WatchController(Lab& lab, widgets::Banner& banner, QWidget& rates, QWidget* window)
    : QObject(window), lab_(lab), banner_(banner), window_(window) {
    rates.installEventFilter(this);
    rates.setCursor(Qt::PointingHandCursor);
    rates.setToolTip(tr("Which probes are measured, and what each takes (Ctrl+Shift+P)"));
    connect(&lab_, &Lab::watchTriggered, this, [this](const QStringList& lines) {
        const QString text = lines.join(u'\n');
        // All of them may have ended with that step.
        if (!lab_.comparison().anyTraining()) return banner_.showMessage(text);
        banner_.showMessage(pausedText(text), {{tr("Resume (Space)"), [this] { lab_.training().play(); }}});
    });
    connect(&lab_, &Lab::trainingChanged, this, [this] {
        // Resumed in another way.
        if (lab_.training().playing() && banner_.message().startsWith(pausedText({}))) banner_.hide();
    });
}

bool WatchController::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::MouseButtonRelease) showCosts();
    return QObject::eventFilter(watched, event);
}

void WatchController::editWatch() {
    const RunIds targets = targetsOf(lab_.comparison(), "watch");
    QStringList names;
    for (const LabRun& run : lab_.comparison().runs)
        if (targets.count(run.id)) names << QString::fromStdString(run.data->name);
    if (names.isEmpty()) return banner_.showMessage(tr("A reference is not trained: select another run"));
    auto* dialog = new widgets::WatchDialog(lab_.comparison().selectedRun().recipe.watch,
                                            names.join(QStringLiteral(", ")), window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { lab_.knobs().setWatch(dialog->watch()); });
    dialog->open();
}

void WatchController::showCosts() {
    std::optional<Recipe> completed;
    QString problem;
    try {
        completed = completedOf(lab_.comparison().selectedRun());
    } catch (const std::exception& error) {
        problem = QString::fromUtf8(error.what());
    }
    auto* dialog =
        new ProbeCostsDialog(lab_.comparison().selectedRun().recipe, std::move(completed), problem, window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ProbeCostsDialog::chosen, &lab_.knobs(), &Knobs::setProbes);
    showTimes(*dialog, lab_.comparison().selectedRun());
    auto* refresh = new QTimer(dialog);
    connect(refresh, &QTimer::timeout, dialog,
            [this, dialog] { showTimes(*dialog, lab_.comparison().selectedRun()); });
    refresh->start(kRefresh);
    dialog->open();
}

}  // namespace normscope::app
