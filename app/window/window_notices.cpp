// SPDX-License-Identifier: GPL-3.0-or-later
// What the window tells: warnings about the stack, interrupted and failed runs, the devices.
#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "core/stack/warnings.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/transport_bar.h"

#include <algorithm>

namespace normscope::app {

/// "71.2 of 79.1 GiB free".
QString freeMemoryText(const DeviceMemory& memory) {
    constexpr double unit = 1 << 30;
    return QObject::tr("%1 of %2 GiB free")
        .arg(static_cast<double>(memory.free) / unit, 0, 'f', 1)
        .arg(static_cast<double>(memory.total) / unit, 0, 'f', 1);
}

namespace {

/// Another run whose scheme has another name and places the same norms, with the same recipe otherwise.
QString identicalTo(const Lab& lab, const LabRun& run) {
    for (const LabRun& other : lab.runs()) {
        if (other.id == run.id || other.pinned || other.recipe.stack.scheme == run.recipe.stack.scheme)
            continue;
        Recipe renamed = other.recipe;
        renamed.stack.scheme = run.recipe.stack.scheme;
        if (widgets::sameNorms(other.recipe.stack.scheme, run.recipe.stack.scheme) &&
            same_recipe(renamed, run.recipe))
            return MainWindow::tr("%1 and %2 place the same norms: these two runs are the same")
                .arg(QString::fromUtf8(scheme_row(run.recipe.stack.scheme).title),
                     QString::fromUtf8(scheme_row(other.recipe.stack.scheme).title));
    }
    return {};
}

}  // namespace

void MainWindow::offerInterruptedRuns(const QList<InterruptedRun>& found) {
    const QStringList dismissed = Settings().dismissedRecordings();
    const auto shown = [this](const InterruptedRun& run) {
        return std::any_of(lab_->runs().begin(), lab_->runs().end(),
                           [&](const LabRun& r) { return r.recording == run.path.toStdString(); });
    };
    QStringList paths, names;
    for (const InterruptedRun& run : found) {
        if (dismissed.contains(run.path) || shown(run)) continue;
        paths << run.path;
        names << tr("%1 at step %2").arg(run.name).arg(run.step);
    }
    if (paths.isEmpty()) return;
    const auto settled = [paths] { Settings().dismissRecordings(paths); };
    banner_->tell(tr("Interrupted runs found: %1").arg(names.join(QStringLiteral(", "))),
                  {{tr("Resume"),
                    [this, paths, settled] {
                        leaving(tr("Resume"), [this, paths, settled] {
                            settled();
                            lab_->resume(paths);
                        });
                    }},
                   {tr("Open"),
                    [this, paths, settled] {
                        leaving(tr("Open"), [this, paths, settled] {
                            settled();
                            lab_->reopen(paths);
                        });
                    }},
                   {tr("Discard offer"), settled}});
}

void MainWindow::showNotices() {
    const LabRun& run = lab_->selected();
    QStringList warned;
    if (run.awaitsFile()) warned << tr("Choose a text file (Data and precision): nothing is measured before");
    if (const QString line = identicalTo(*lab_, run); !line.isEmpty()) warned << line;
    if (!run.not_recorded.empty()) warned << QString::fromStdString(run.not_recorded);
    for (const std::string& line : warnings(run.recipe.stack)) warned << QString::fromStdString(line);
    for (const std::string& line : run.gate_warnings) warned << QString::fromStdString(line);
    knobs_->notices()->setNotices(QString::fromStdString(run.rejection), warned);
}

void MainWindow::showDeviceChoice() {
    std::vector<widgets::DeviceEntry> entries;
    for (const KnownDevice& device : lab_->devices()) {
        const std::string name = device.backend == "cpu" ? cpu_name() : device.name;
        entries.push_back(
            {QString::fromStdString(device.backend),
             QString::fromStdString(name) + QStringLiteral(" · ") + freeMemoryText(device.memory),
             QString::fromStdString(device.missing),
             device.backend.rfind("cuda", 0) == 0 && device.backend != "cuda-emulated"
                 ? tr("The CUDA plug-in: %1").arg(QLatin1String(kCudaPluginTested))
                 : QString()});
    }
    transport_->device()->setDevices(entries);
    transport_->device()->setChosen(QString::fromStdString(lab_->backend()));
}

void MainWindow::offerResumption() {
    std::vector<std::string> ids;
    QStringList lines;
    for (const auto& [id, line] : lab_->failedRuns()) {
        ids.push_back(id);
        lines << line;
    }
    banner_->tell(lines.join(u'\n'), {{tr("Resume on cpu"), [this, ids] { lab_->resumeRuns(ids, "cpu"); }}});
}

}  // namespace normscope::app
