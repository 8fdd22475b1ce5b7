// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/step_cost_controller.h"

#include "app/lab/lab.h"
#include "widgets/runs/step_cost_drawer.h"

namespace normscope::app {

namespace {

constexpr int kStepCostInterval = 300;  // ms between counts while a knob moves

}  // namespace

StepCostController::StepCostController(Lab& lab, QWidget* area, QWidget* window)
    : QObject(window),
      lab_(lab),
      drawer_(new widgets::StepCostDrawer(area, window)),
      later_(this, kStepCostInterval, [this] {
          if (drawer_->isVisible()) refresh();
      }) {
    const auto follow = [this] {
        if (drawer_->isVisible()) later_.request();
    };
    connect(&lab_, &Lab::runsChanged, this, follow);
    connect(drawer_, &widgets::StepCostDrawer::cardChosen, this, &StepCostController::refresh);
    connect(drawer_, &widgets::Drawer::hidden, this, [this] {
        counter_.cancel();
        requested_ = false;
    });
    connect(&counter_, &StepCounter::counted, this, [this](quint64, const StepCount& count) {
        // A line does not break before a unit.
        QString time = QString::fromStdString(time_text(count, shown_.train, shown_.stack));
        time.replace(QStringLiteral(" %"), QStringLiteral("\u00a0%"));
        drawer_->setCount(name_, count, time);
    });
    connect(&counter_, &StepCounter::failed, this,
            [this](quint64, const QString& line) { drawer_->setProblem(name_, line); });
}

void StepCostController::toggle() {
    if (drawer_->isVisible()) return drawer_->hide();
    drawer_->open();
    refresh();
}

void StepCostController::refresh() {
    const LabRun& run = lab_.comparison().selectedRun();
    const QString name = QString::fromStdString(run.data->name);
    if (requested_ && run.recipe == shown_ && name == name_ && drawer_->card() == card_) return;
    requested_ = true;
    shown_ = run.recipe;
    name_ = name;
    card_ = drawer_->card();
    drawer_->setCounting(name_);
    counter_.request(shown_, card_);
}

}  // namespace normscope::app
