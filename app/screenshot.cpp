// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/screenshot.h"

#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "widgets/story/story_strip.h"

#include <QApplication>
#include <QFileInfo>
#include <QTimer>
#include <cstdio>
#include <memory>

namespace normscope::app {

namespace {

/// Whether everything ordered is on screen.
bool ready(const Lab& lab, const ScreenshotOrder& order) {
    if (!lab.notReadYet().isEmpty()) return false;
    if (order.train_steps == 0) return lab.exact();
    for (const LabRun& run : lab.runs())
        if (!run.pinned &&
            (!run.trained() || (run.underWay() && run.data->steps.step.back() + 1 < order.train_steps)))
            return false;
    return true;
}

/// Waits until the window is ready, then saves the screenshot.
void saveWhenReady(MainWindow& window, const ScreenshotOrder& order) {
    if (order.train_steps > 0) window.lab()->play();
    auto* poll = new QTimer(&window);
    const auto scrubbed = std::make_shared<bool>(false);
    QObject::connect(poll, &QTimer::timeout, &window, [&window, order, poll, scrubbed] {
        if (!ready(*window.lab(), order)) return;
        if (order.step >= 0 && !*scrubbed) {
            *scrubbed = true;
            if (window.lab()->playing()) window.lab()->pause();
            window.lab()->setStep(order.step);
            if (order.measure) window.lab()->measureHere();
        }
        if (window.lab()->measuring()) return;
        poll->stop();
        if (!order.story.isEmpty()) window.story()->moveTo(static_cast<std::size_t>(order.story_step - 1));
        // One more iteration of the event loop and a delay for the bars, which update a few times a second.
        QTimer::singleShot(300 + static_cast<int>(1000 * order.after), &window, [&window, order] {
            const bool ok = window.grab().save(order.out);
            if (!ok) std::fprintf(stderr, "normscope: %s: cannot be written\n", qPrintable(order.out));
            QApplication::exit(ok ? 0 : 1);
        });
    });
    poll->start(20);
}

}  // namespace

void takeScreenshot(MainWindow& window, const ScreenshotOrder& order) {
    window.resize(order.size);
    if (!order.story.isEmpty()) window.tellStory(order.story);
    if (order.present) window.togglePresentation();
    if (order.session.isEmpty()) {
        QTimer::singleShot(0, &window, [&window, order] { saveWhenReady(window, order); });
        return;
    }
    QObject::connect(window.lab(), &Lab::sessionOpened, &window,
                     [&window, order] { saveWhenReady(window, order); });
    QObject::connect(window.lab(), &Lab::problem, &window, [](const QString& message) {
        std::fprintf(stderr, "normscope: %s\n", qPrintable(message));
        QApplication::exit(2);
    });
    if (QFileInfo(order.session).isDir()) {
        QObject::connect(&window.lab()->sweeps(), &SweepRunner::opened, &window,
                         [&window, order] { saveWhenReady(window, order); });
        QObject::connect(&window.lab()->sweeps(), &SweepRunner::problem, &window, [](const QString& message) {
            std::fprintf(stderr, "normscope: %s\n", qPrintable(message));
        });
        window.sweeps()->open(order.session);
        return;
    }
    window.openSession(order.session);
}

}  // namespace normscope::app
