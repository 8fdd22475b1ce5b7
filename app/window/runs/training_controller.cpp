// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/training_controller.h"

#include "app/lab/lab.h"
#include "app/window/files/files_controller.h"
#include "app/window/runs/presentation_headline.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/transport_bar.h"

#include <QInputDialog>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kBarInterval = 100;            // ms
constexpr int kMaxStepsOfAFork = 1'000'000;  // as the question offers them

/// "71.2 of 79.1 GiB free".
QString freeMemoryText(const DeviceMemory& memory) {
    constexpr double unit = 1 << 30;
    return QObject::tr("%1 of %2 GiB free")
        .arg(static_cast<double>(memory.free) / unit, 0, 'f', 1)
        .arg(static_cast<double>(memory.total) / unit, 0, 'f', 1);
}

/// The measured steps of the runs of a lane: by any probe in any of them, and by all probes shown in all of
/// them.
widgets::StepLane laneOf(const std::vector<const RunData*>& runs, const QString& name, int index,
                         const std::vector<std::string>& shown) {
    widgets::StepLane lane;
    lane.name = name;
    lane.run = index;
    for (const RunData* run : runs) {
        if (!run->steps.step.empty()) lane.recorded = std::max<qint64>(lane.recorded, run->steps.step.back());
        for (const auto& [probe, samples] : run->probes) {
            if (probe == "flight") continue;  // the flight recorder's steps: no panel draws them
            for (const ProbeResult& sample : samples) lane.some.push_back(sample.step);
        }
    }
    std::sort(lane.some.begin(), lane.some.end());
    lane.some.erase(std::unique(lane.some.begin(), lane.some.end()), lane.some.end());
    const auto measured = [&](const RunData* run, qint64 step) {
        return std::all_of(shown.begin(), shown.end(),
                           [&](const std::string& probe) { return run->sample_of(probe, step); });
    };
    std::copy_if(lane.some.begin(), lane.some.end(), std::back_inserter(lane.by_all), [&](qint64 step) {
        return std::all_of(runs.begin(), runs.end(), [&](const RunData* run) { return measured(run, step); });
    });
    return lane;
}

QString memoryText(const DeviceUse& use) {
    if (use.memory.total > 0) return freeMemoryText(use.memory);
    return QObject::tr("%1 MiB resident").arg(use.resident >> 20);
}

double last(const RunData& run, const char* column) {
    const auto* values = run.steps.find(column);
    return values && !values->empty() ? values->back() : std::nan("");
}

/// What Space does next, for all runs at once; empty while it trains.
QString actText(const Lab& lab) {
    using Act = TrainingControl::Act;
    const auto counted = [&](const QString& one, const QString& several, const auto& counts) {
        const auto& runs = lab.comparison().runs;
        const auto count = std::count_if(runs.begin(), runs.end(), counts);
        return count > 1 ? several.arg(count) : one;
    };
    switch (lab.training().nextAct()) {
        case Act::Continue:
            return counted(TrainingController::tr("Resume"), TrainingController::tr("Resume %1 runs"),
                           [](const LabRun& run) { return run.isTraining(); });
        case Act::ResumeEnded:
            return counted(TrainingController::tr("Resume"), TrainingController::tr("Resume %1 runs"),
                           [](const LabRun& run) { return run.resumable(); });
        case Act::MoreSteps:
            return TrainingController::tr("%1 more steps").arg(lab.training().moreSteps());
        case Act::StartNew:
            return counted(TrainingController::tr("Start new run"),
                           TrainingController::tr("Start %1 new runs"),
                           [](const LabRun& run) { return run.needsNewRun(); });
        case Act::StartAgain:
            return TrainingController::tr("Start again");
        case Act::Follow:
            return TrainingController::tr("Live");
        case Act::None:
            return TrainingController::tr("All ended");
        case Act::Train:
        case Act::Pause:
            return {};
    }
    return {};
}

}  // namespace

TrainingController::TrainingController(Lab& lab, FilesController& files, const Views& views, QObject* parent)
    : QObject(parent), lab_(lab), files_(files), views_(views), later_(this, kBarInterval, [this] {
          show();
      }) {
    connectTransport();
    connectPresentation();
    connect(&lab_, &Lab::viewChanged, this, &TrainingController::show);
    const auto later = [this] { later_.request(); };
    connect(&lab_, &Lab::trainingChanged, this, later);
    connect(&lab_.measurement(), &Measurement::changed, this, later);
    connect(&lab_.forks(), &Forks::changed, this, later);
    connect(&lab_.following(), &Following::noted, views_.banner,
            [banner = views_.banner](const QString& line) { banner->showMessage(line); });
    connect(&lab_, &Lab::connectionChanged, views_.banner,
            [banner = views_.banner](const QString& line) { banner->showMessage(line); });
    connect(&lab_, &Lab::dataChanged, this, later);
    connect(&lab_.devices(), &Devices::changed, this, &TrainingController::showDeviceChoice);
    connect(&lab_, &Lab::runsFailed, this, &TrainingController::offerResumption);
    connect(&lab_.recordings(), &Recordings::interruptedFound, this,
            &TrainingController::offerInterruptedRuns);
}

void TrainingController::connectTransport() {
    connect(views_.transport, &widgets::TransportBar::play, &lab_.training(), &TrainingControl::play);
    connect(views_.transport, &widgets::TransportBar::pause, &lab_.training(), &TrainingControl::pause);
    connect(views_.transport, &widgets::TransportBar::singleStep, &lab_.training(),
            &TrainingControl::singleStep);
    connect(views_.transport, &widgets::TransportBar::scrubbed, &lab_.view(), &LabView::setStep);
    connect(views_.transport, &widgets::TransportBar::measureHere, &lab_.measurement(),
            &Measurement::measureHere);
    connect(views_.transport, &widgets::TransportBar::forkHere, this, &TrainingController::forkHere);
    connect(views_.transport, &widgets::TransportBar::replaceRuns, &lab_.training(),
            &TrainingControl::replaceRuns);
    connect(views_.transport->device(), &widgets::DeviceButton::deviceChosen, this,
            &TrainingController::chooseDevice);
    connect(views_.transport->device(), &widgets::DeviceButton::menuOpens, &lab_.devices(), &Devices::find);
    connect(views_.transport->device(), &widgets::DeviceButton::anotherMachineWanted, this,
            &TrainingController::chooseMachine);
}

void TrainingController::connectPresentation() {
    connect(views_.presentation, &widgets::Presentation::stepRequested, &lab_.view(), &LabView::setStep);
    const widgets::PresentationFoot* foot = views_.presentation->foot();
    connect(foot, &widgets::PresentationFoot::playToggled, &lab_.training(), &TrainingControl::togglePlay);
    connect(foot, &widgets::PresentationFoot::scrubbed, &lab_.view(), &LabView::setStep);
    connect(foot, &widgets::PresentationFoot::dragStarted, &lab_.knobs(), &Knobs::beginDrag);
    connect(foot, &widgets::PresentationFoot::keyChanging, &lab_.knobs(), &Knobs::dragKey);
    connect(foot, &widgets::PresentationFoot::keyCommitted, &lab_.knobs(), &Knobs::commitKey);
}

void TrainingController::show() {
    std::vector<widgets::StepMark> marks;
    std::vector<widgets::StepLane> lanes;
    qint64 planned = 0;
    double tokens = 0;
    const auto& groups = lab_.view().groups().groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<const RunData*> members;
        for (const std::size_t i : groups[g].members) {
            const LabRun& run = lab_.comparison().runs[i];
            planned = std::max<qint64>(planned, run.live.train.steps - 1);
            for (const RunEvent& event : run.data->events)
                marks.push_back({event.step, static_cast<int>(g),
                                 event.kind == "outcome" ? run.data->outcome.state : RunState::Running,
                                 QString::fromStdString(event.text)});
            members.push_back(run.data.get());
            if (run.isTraining() && run.trained()) tokens += last(*run.data, "tokens_per_s");
        }
        lanes.push_back(laneOf(members, groups[g].name, static_cast<int>(g), lab_.view().visibleProbes()));
    }
    const double unknown = std::nan("");
    views_.transport->setRange(lab_.comparison().lastStep(), planned);
    const qint64 step =
        lab_.comparison().exploring() ? 0 : std::min(lab_.view().step(), lab_.comparison().lastStep());
    views_.presentation->foot()->scrubber()->setMarks(marks);
    views_.presentation->foot()->scrubber()->setLanes(lanes);
    views_.presentation->show({lab_.comparison().lastStep(), planned, step, lab_.training().playing(),
                               presentationHeadline(lab_), actText(lab_)});
    views_.transport->setMarks(std::move(marks));
    views_.transport->setLanes(std::move(lanes));
    views_.transport->setStep(step);
    const TrainingControl::Act act = lab_.training().nextAct();
    QString idle;
    if (act == TrainingControl::Act::None) idle = tr("Every run has ended: change a knob, or fork one (K)");
    if (act == TrainingControl::Act::Follow) idle = tr("Another process trains: its runs are shown live");
    views_.transport->setPlaying(act == TrainingControl::Act::Pause, actText(lab_), idle);
    views_.transport->setMeasuring(lab_.measurement().status());
    const QString obstacle = lab_.measurement().obstacle();
    views_.transport->setMeasurable(obstacle.isEmpty(), obstacle);
    const QString no_fork = lab_.forks().obstacle();
    views_.transport->setForking(lab_.forks().status());
    views_.transport->setForkable(no_fork.isEmpty(), no_fork);
    // With knobs that may change during training, a step in the past is where the new run can begin.
    const bool branches = no_fork.isEmpty() && step < lab_.comparison().selectedRun().lastStep();
    views_.transport->setReplaceable(lab_.comparison().changesPending() && !branches);
    const bool rates = lab_.comparison().anyTraining() && !lab_.comparison().exploring();
    views_.transport->setRates(rates ? tokens : unknown, rates ? lab_.training().stepMs() : unknown,
                               rates ? 100 * lab_.training().probeOverhead() : unknown);
    const DeviceUse use = lab_.training().deviceUse();
    const bool known = rates && !use.backend.empty();
    views_.transport->setDeviceUse(known ? QString::fromStdString(use.backend) : QString(),
                                   known ? memoryText(use) : QString());
    views_.transport->device()->setTraining(lab_.comparison().anyTraining());
}

void TrainingController::showDeviceChoice() {
    std::vector<widgets::DeviceEntry> entries;
    for (const KnownDevice& device : lab_.devices().known()) {
        const std::string name = device.backend == "cpu" ? cpu_name() : device.name;
        entries.push_back(
            {QString::fromStdString(device.backend),
             QString::fromStdString(name) + QStringLiteral(" · ") + freeMemoryText(device.memory),
             QString::fromStdString(device.missing),
             device.backend.rfind("cuda", 0) == 0 && device.backend != "cuda-emulated"
                 ? tr("The CUDA plug-in: %1").arg(QLatin1String(kCudaPluginTested))
                 : QString(),
             lab_.devices().waits(device.backend)});
    }
    views_.transport->device()->setDevices(entries);
    views_.transport->device()->setChosen(QString::fromStdString(lab_.devices().chosen()));
}

void TrainingController::offerResumption() {
    std::vector<std::string> ids;
    QStringList lines;
    for (const auto& [id, line] : lab_.training().failedRuns()) {
        ids.push_back(id);
        lines << line;
    }
    views_.banner->showMessage(
        lines.join(u'\n'), {{tr("Resume on cpu"), [this, ids] { lab_.training().resumeRuns(ids, "cpu"); }}});
}

void TrainingController::offerInterruptedRuns(const QList<InterruptedRun>& found) {
    const QStringList dismissed = widgets::Settings().dismissedRecordings();
    const auto shown = [this](const InterruptedRun& run) {
        return std::any_of(lab_.comparison().runs.begin(), lab_.comparison().runs.end(),
                           [&](const LabRun& r) { return r.recording == run.path.toStdString(); });
    };
    QStringList paths, names;
    for (const InterruptedRun& run : found) {
        if (dismissed.contains(run.path) || shown(run)) continue;
        paths << run.path;
        names << tr("%1 at step %2").arg(run.name).arg(run.step);
    }
    if (paths.isEmpty()) return;
    const auto settled = [paths] { widgets::Settings().dismissRecordings(paths); };
    views_.banner->showMessage(tr("Interrupted runs found: %1").arg(names.join(QStringLiteral(", "))),
                               {{tr("Resume"),
                                 [this, paths, settled] {
                                     files_.leaving(tr("Resume"), [this, paths, settled] {
                                         settled();
                                         lab_.session().resume(paths);
                                     });
                                 }},
                                {tr("Open"),
                                 [this, paths, settled] {
                                     files_.leaving(tr("Open"), [this, paths, settled] {
                                         settled();
                                         lab_.session().reopen(paths);
                                     });
                                 }},
                                {tr("Discard offer"), settled}});
}

void TrainingController::chooseDevice(const QString& backend) {
    lab_.devices().choose(backend);
    widgets::Settings().setBackend(QString::fromStdString(lab_.devices().chosen()));
}

void TrainingController::chooseMachine() {
    const QString scheme = QStringLiteral("ssh://");
    const QString chosen = QString::fromStdString(lab_.devices().chosen());
    auto* dialog = new QInputDialog(views_.transport->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Another machine"));
    dialog->setLabelText(
        tr("The machine, as your ssh calls it: ssh://[user@]host[:port][/path/to/normscope-cli].\n"
           "It needs the same version of Normscope. Keys and passphrases are your ssh's own."));
    dialog->setInputMode(QInputDialog::TextInput);
    dialog->setTextValue(chosen.startsWith(scheme) ? chosen.section(u' ', 0, 0) : scheme);
    dialog->setOkButtonText(tr("Connect"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, scheme](const QString& text) {
        const QString place = text.trimmed();
        chooseDevice(place.startsWith(scheme) ? place : scheme + place);
    });
    dialog->open();
}

void TrainingController::showDevices() {
    if (views_.transport->isVisible()) views_.transport->device()->showMenu();
}

void TrainingController::forkHere() {
    if (lab_.forks().running() || !lab_.forks().obstacle().isEmpty() || !lab_.forks().atEnd())
        return lab_.forks().forkSelected();
    const LabRun& run = lab_.comparison().selectedRun();
    const TrainSpec& train = run.live.train;
    QString question = tr("%1 has ended after %2 steps. How many more does the fork train?")
                           .arg(QString::fromStdString(run.data->name))
                           .arg(train.steps);
    if (train.schedule.lr != LearningRateSchedule::Constant)
        question += u'\n' + tr("Its learning rate then follows the schedule of all of them.");
    auto* dialog = new QInputDialog(views_.transport->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Fork at the end"));
    dialog->setLabelText(question);
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(1, kMaxStepsOfAFork);
    dialog->setIntValue(train.steps);
    dialog->setOkButtonText(tr("Fork"));
    // Another run may be selected, or shown at another step, while the question is open.
    connect(dialog, &QInputDialog::intValueSelected, this, [this, data = run.data](int more) {
        if (lab_.comparison().selectedRun().data == data && lab_.forks().atEnd())
            lab_.forks().forkSelected(more);
    });
    dialog->open();
}

void TrainingController::resumeSelected() {
    const LabRun& run = lab_.comparison().selectedRun();
    if (run.resumable())
        lab_.training().resumeRuns({run.id});
    else
        views_.banner->showMessage(tr("%1 can be resumed only after it was stopped or failed")
                                       .arg(QString::fromStdString(run.data->name)));
}

}  // namespace normscope::app
