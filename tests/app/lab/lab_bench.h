// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/lab.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <stdexcept>

namespace normscope::test {

/// Runs small enough to train in a blink.
inline void makeSmall(app::Lab& lab, int steps) {
    for (const auto& [key, value] : {std::pair{"stack.depth", 2},
                                     {"stack.d_model", 16},
                                     {"stack.heads", 2},
                                     {"stack.context", 16},
                                     {"batch", 2},
                                     {"steps", steps}})
        lab.knobs().commitKey(key, value);
}

/// A laboratory without a window, its runs small enough to train in a blink.
struct LabBench {
    QTemporaryDir folder;
    std::unique_ptr<app::Lab> lab;
    QStringList problems;

    /// How its replies are delivered; empty: at once.
    std::function<void(std::function<void()>)> deliver;

    explicit LabBench(int steps = 6, std::function<void(std::function<void()>)> delivery = {})
        : deliver(std::move(delivery)) {
        open(steps);
    }
    void open(int steps) {
        lab = std::make_unique<app::Lab>(app::Lab::Options{1, folder.path(), deliver});
        QObject::connect(lab.get(), &app::Lab::problem, lab.get(),
                         [this](const QString& text) { problems << text; });
        makeSmall(steps);
        lab->view().setVisibleProbes({"growth", "gradients", "jacobian"});
    }
    void makeSmall(int steps) {
        makeSmallKeepingUndo(steps);
        lab->runs().undoStack()->clear();
    }
    void makeSmallKeepingUndo(int steps) { test::makeSmall(*lab, steps); }
    const RunData& run(int i) const { return *lab->comparison().runs[static_cast<std::size_t>(i)].data; }
    std::vector<double> rms(int i) const { return run(i).probes.at("growth").back().find("rms")->data; }
    widgets::Figure figure(const char* panel) const {
        return widgets::buildPanel(panel, lab->view().panelInput(panel, {}));
    }
    bool measured() const { return lab->view().exact() && run(0).probes.count("jacobian"); }
    bool ended() const { return !lab->training().playing() && !lab->comparison().anyTraining(); }

    /// The runs that a search finds; throws where it does not answer. Where replies come twice, this one does
    /// too.
    QList<app::InterruptedRun> interrupted() const {
        QSignalSpy found(&lab->recordings(), &app::Recordings::interruptedFound);
        lab->recordings().findInterrupted();
        if (found.isEmpty()) found.wait();
        if (found.count() != 1) throw std::runtime_error("findInterrupted() did not answer once");
        return found[0][0].value<QList<app::InterruptedRun>>();
    }
};

}  // namespace normscope::test
