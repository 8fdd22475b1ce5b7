// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/studies/sweep_controller.h"

#include "app/lab/lab.h"
#include "app/lab/remote/place.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/drawers/drawer.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_band.h"
#include "widgets/sweep/sweep_dialog.h"
#include "widgets/sweep/sweep_view.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStackedWidget>
#include <algorithm>

namespace normscope::app {

using widgets::SweepBand;
using widgets::SweepDialog;
using widgets::SweepView;

namespace {

constexpr int kBandInterval = 150;  // ms

/// The runs of the comparison that are recorded, in their order.
std::vector<widgets::RecordedRun> recordedRuns(const Lab& lab) {
    std::vector<widgets::RecordedRun> recorded;
    const widgets::RunGroups& groups = lab.view().groups();
    for (std::size_t i = 0; i < lab.comparison().runs.size(); ++i)
        if (const LabRun& run = lab.comparison().runs[i]; !run.recording.empty()) {
            const std::size_t group = groups.groupOf(i);
            recorded.push_back({QString::fromStdString(run.recording), run.data, static_cast<int>(group),
                                groups.groups[group].name});
        }
    return recorded;
}

}  // namespace

SweepController::SweepController(Lab& lab, const Views& views, const QString& recordings_folder,
                                 QWidget* window)
    : QObject(window),
      lab_(lab),
      sweeps_(lab.sweeps()),
      views_(views),
      folder_(QDir(recordings_folder).filePath(QStringLiteral("sweeps"))),
      window_(window),
      later_(this, kBandInterval, [this] { refreshBand(); }) {
    connect(&sweeps_, &SweepRunner::opened, this, &SweepController::applySweep);
    connect(&sweeps_, &SweepRunner::changed, this, [this] {
        views_.map->updateSweep();
        later_.request();
    });
    connect(&sweeps_, &SweepRunner::problem, views_.banner,
            [this](const QString& line) { views_.banner->showMessage(line); });
    connect(&sweeps_, &SweepRunner::rejected, this, [this](const QString& line) {
        if (dialog_)
            dialog_->showRejected(line);
        else
            views_.banner->showMessage(line);
    });
    connect(&lab_, &Lab::runsChanged, this, &SweepController::showRuns);
    connect(&lab_.recordings(), &Recordings::added, this, &SweepController::showRuns);
    connectViews();
}

void SweepController::connectViews() {
    connect(views_.map, &SweepView::runsRequested, &lab_.recordings(), &Recordings::add);
    connect(views_.map, &SweepView::scalarRequested, &sweeps_, &SweepRunner::setScalar);
    connect(views_.map, &SweepView::problem, views_.banner,
            [this](const QString& line) { views_.banner->showMessage(line); });
    connect(views_.map, &SweepView::closed, this, [this] { show(false); });
    connect(views_.band, &SweepBand::openBest, views_.map, &SweepView::openBest);
    connect(views_.band, &SweepBand::stopOrResume, this, &SweepController::stopOrResume);
    connect(views_.knobs, &widgets::KnobPanel::rangeMarked, this, &SweepController::createOver);
}

void SweepController::applySweep() {
    views_.map->setSweep(sweeps_.sweep() ? &*sweeps_.sweep() : nullptr);
    if (!sweeps_.sweep()) return;
    refreshBand();
    Q_EMIT opened(sweeps_.sweep()->folder);
    show(true);
}

void SweepController::showRuns() {
    views_.map->setRuns(recordedRuns(lab_));
}

void SweepController::refreshBand() {
    if (!sweeps_.sweep()) return;
    using enum widgets::SweepActivity;
    views_.band->setSweep(*sweeps_.sweep(), sweeps_.stopping()  ? Stopping
                                            : sweeps_.running() ? Training
                                                                : Idle);
}

bool SweepController::shown() const {
    return views_.area->currentWidget() == views_.map;
}

void SweepController::show(bool shown) {
    if (shown == this->shown()) return;
    views_.area->setCurrentIndex(shown ? views_.area->indexOf(views_.map) : 0);
    views_.upper->setCurrentIndex(shown && sweeps_.sweep() ? views_.upper->indexOf(views_.band) : 0);
    Q_EMIT shownChanged(shown);
    // Under a drawer, such as the gallery that started the sweep, it takes no keys.
    const auto drawers = window_->findChildren<widgets::Drawer*>(QString(), Qt::FindDirectChildrenOnly);
    const bool covered = std::any_of(drawers.begin(), drawers.end(),
                                     [](const widgets::Drawer* drawer) { return drawer->isVisible(); });
    if (shown && !covered) views_.map->map()->setFocus();
}

void SweepController::open(const QString& folder) {
    sweeps_.open(folder);
}

void SweepController::choose() {
    widgets::Settings settings;
    const QString folder =
        QFileDialog::getExistingDirectory(window_, tr("Open the folder of a sweep"), settings.lastFolder());
    if (folder.isEmpty()) return;
    settings.setLastFolder(QFileInfo(folder).absolutePath());
    open(folder);
}

void SweepController::create() {
    if (sweeps_.running()) {
        views_.banner->showMessage(tr("A sweep is being trained: stop it before another one starts"));
        return;
    }
    if (dialog_) return dialog_->activateWindow();
    const LabRun& run = lab_.comparison().selectedRun();
    const std::string& device = lab_.devices().chosen();
    const QString machine =
        is_remote(device) ? QString::fromStdString(parse_remote(device).first.host) : tr("this machine");
    auto* dialog = new SweepDialog(run.recipe, QString::fromStdString(run.data->name), folder_,
                                   lab_.view().trainingSeconds(run.recipe), machine, window_);
    dialog_ = dialog;
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SweepDialog::startRequested, this, [this](const SweepSpec& spec, const QString& folder) {
        sweeps_.start(spec, folder, lab_.devices().chosen(), lab_.devices().engineThreads());
    });
    connect(&sweeps_, &SweepRunner::opened, dialog, &QDialog::accept);
    dialog->open();
}

void SweepController::createOver(KeyRef key, double low, double high) {
    const auto* knob = qobject_cast<widgets::Knob*>(views_.knobs->row(QString::fromStdString(key->name)));
    if (!knob || low >= high) return;
    create();
    if (!dialog_) return;  // a sweep is being trained, and create() has reported it
    const auto whole = [](double value) { return QString::number(value, 'f', 0).toStdString(); };
    dialog_->setVaried(key->name, key->name == "seed" ? whole(low) + ":" + whole(high)
                                                      : widgets::sweepRange(knob->scale(), low, high));
}

void SweepController::stopOrResume() {
    if (sweeps_.running())
        sweeps_.stop();
    else if (sweeps_.sweep())
        sweeps_.resume(lab_.devices().chosen(), lab_.devices().engineThreads());
    else
        views_.banner->showMessage(tr("No sweep is open"));
}

QString SweepController::specification() const {
    return sweeps_.sweep() ? QString::fromStdString(sweep_json(sweeps_.sweep()->results.spec)) : QString();
}

}  // namespace normscope::app
