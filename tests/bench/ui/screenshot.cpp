// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/screenshot.h"

#include "app/lab/lab.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/main_window.h"
#include "app/window/runs/story_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "widgets/story/story_strip.h"

#include <QApplication>
#include <QFileInfo>
#include <QTimer>
#include <cstdio>
#include <memory>

namespace normscope::app {

namespace {

/// Whether everything ordered is on screen.
bool ready(const Lab& lab, const WindowOptions& options) {
    if (!notReadYet(lab.comparison()).isEmpty()) return false;
    if (options.train == 0) return lab.view().exact();
    for (const LabRun& run : lab.comparison().runs)
        if (!run.pinned &&
            (!run.trained() || (run.isTraining() && run.data->steps.step.back() + 1 < options.train)))
            return false;
    return true;
}

/// Waits until the window is ready, then saves the screenshot.
void saveWhenReady(MainWindow& window, const WindowOptions& options) {
    if (options.train > 0) window.lab()->training().play();
    auto* poll = new QTimer(&window);
    const auto scrubbed = std::make_shared<bool>(false);
    QObject::connect(poll, &QTimer::timeout, &window, [&window, options, poll, scrubbed] {
        if (!ready(*window.lab(), options)) return;
        if (options.step >= 0 && !*scrubbed) {
            *scrubbed = true;
            if (window.lab()->training().playing()) window.lab()->training().pause();
            window.lab()->view().setStep(options.step);
            if (options.measure) window.lab()->measurement().measureHere();
        }
        if (window.lab()->measurement().running()) return;
        poll->stop();
        if (!options.story.empty())
            window.views().story->moveTo(static_cast<std::size_t>(options.story_step - 1));
        // One more iteration of the event loop and a delay for the bars, which update a few times a second.
        QTimer::singleShot(300 + static_cast<int>(1000 * options.after), &window, [&window, options] {
            const bool ok = window.grab().save(QString::fromStdString(options.screenshot));
            if (!ok) std::fprintf(stderr, "normscope: %s: cannot be written\n", options.screenshot.c_str());
            QApplication::exit(ok ? 0 : 1);
        });
    });
    poll->start(20);
}

}  // namespace

void takeScreenshot(MainWindow& window, const WindowOptions& options) {
    window.resize(options.size);
    if (!options.story.empty()) window.stories()->tell(QString::fromStdString(options.story));
    if (options.present) window.appearance()->togglePresentation();
    if (options.session.empty()) {
        QTimer::singleShot(0, &window, [&window, options] { saveWhenReady(window, options); });
        return;
    }
    QObject::connect(&window.lab()->session(), &LabSession::opened, &window,
                     [&window, options] { saveWhenReady(window, options); });
    QObject::connect(window.lab(), &Lab::problem, &window, [](const QString& message) {
        std::fprintf(stderr, "normscope: %s\n", qPrintable(message));
        QApplication::exit(2);
    });
    const QString session = QString::fromStdString(options.session);
    if (QFileInfo(session).isDir()) {
        QObject::connect(&window.lab()->sweeps(), &SweepRunner::opened, &window,
                         [&window, options] { saveWhenReady(window, options); });
        QObject::connect(&window.lab()->sweeps(), &SweepRunner::problem, &window, [](const QString& message) {
            std::fprintf(stderr, "normscope: %s\n", qPrintable(message));
        });
        window.sweeps()->open(session);
        return;
    }
    window.files()->openSession(session);
}

}  // namespace normscope::app
