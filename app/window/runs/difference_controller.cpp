// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/difference_controller.h"

#include "app/lab/lab.h"
#include "core/findings/run_difference.h"
#include "widgets/runs/difference_drawer.h"

#include <QElapsedTimer>

namespace normscope::app {

namespace {

constexpr int kDifferenceInterval = 500;  // ms between refreshes while runs train
constexpr qint64 kQuick = 8;              // ms: longer comparisons wait for the end of the training

}  // namespace

DifferenceController::DifferenceController(Lab& lab, QWidget* area, QWidget* window)
    : QObject(window),
      lab_(lab),
      drawer_(new widgets::DifferenceDrawer(area, window)),
      later_(this, kDifferenceInterval, [this] {
          if (drawer_->isVisible()) refresh();
      }) {
    const auto follow = [this] {
        if (drawer_->isVisible() && (took_ms_ <= kQuick || !lab_.training().playing())) later_.request();
    };
    connect(&lab_, &Lab::runsChanged, this, follow);
    connect(&lab_, &Lab::trainingChanged, this, follow);
    connect(&lab_, &Lab::dataChanged, this, follow);
    connect(drawer_, &widgets::DifferenceDrawer::runsChosen, this,
            [this](const QString& a, const QString& b) {
                a_ = a.toStdString();
                b_ = b.toStdString();
                refresh();
            });
    connect(drawer_, &widgets::DifferenceDrawer::stepRequested, this,
            [this](qint64 step) { lab_.view().setStep(step); });
}

void DifferenceController::toggle() {
    if (drawer_->isVisible()) return drawer_->hide();
    refresh();
    drawer_->open();
}

int DifferenceController::indexOf(const std::string& id) const {
    const std::vector<LabRun>& runs = lab_.comparison().runs;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i].id == id) return static_cast<int>(i);
    return -1;
}

void DifferenceController::refresh() {
    const std::vector<LabRun>& runs = lab_.comparison().runs;
    const int count = static_cast<int>(runs.size());
    int a = indexOf(a_), b = indexOf(b_);
    if (a < 0) a = lab_.comparison().selected;
    if (b < 0 || b == a) b = count > 1 ? (a + 1) % count : -1;
    std::vector<widgets::DifferenceRun> offered;
    for (std::size_t i = 0; i < runs.size(); ++i)
        offered.push_back({QString::fromStdString(runs[i].id), QString::fromStdString(runs[i].data->name),
                           static_cast<int>(lab_.view().groups().groupOf(i))});
    drawer_->setRuns(offered, a, b);
    if (b < 0) return drawer_->setDifference(std::nullopt);
    const RunData& of_a = *runs[static_cast<std::size_t>(a)].data;
    const RunData& of_b = *runs[static_cast<std::size_t>(b)].data;
    QElapsedTimer clock;
    clock.start();
    const RunDifference found = difference_of(of_a, of_b, rounding_tolerance(of_a, of_b));
    took_ms_ = clock.elapsed();
    drawer_->setDifference(found);
}

}  // namespace normscope::app
