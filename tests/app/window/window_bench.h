// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "widgets/common/throttle.h"
#include "widgets/panels/panel_grid.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

namespace normscope::test {

/// Waits until nothing on screen is to be updated later: bars, chips and findings are, a few times a second.
inline void settle() {
    const auto due = [] {
        const QWidgetList windows = QApplication::topLevelWidgets();
        return std::any_of(windows.begin(), windows.end(), [](const QWidget* window) {
            const auto updates = window->findChildren<widgets::Throttle*>();
            return std::any_of(updates.begin(), updates.end(),
                               [](const auto* update) { return update->isDue(); });
        });
    };
    // An update may request another one, and its layout, in the next rounds of events.
    int rounds = 0;
    QVERIFY(QTest::qWaitFor([&] { return (rounds = due() ? 0 : rounds + 1) == 4; }, 20000));
}

/// The real window on screen, with settings and recordings in a folder of its own.
struct WindowBench {
    QTemporaryDir folder;
    std::unique_ptr<app::MainWindow> window;

    WindowBench() {
        QCoreApplication::setOrganizationName(QStringLiteral("Normscope"));
        QCoreApplication::setApplicationName(QStringLiteral("Normscope"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
        open();
    }
    void open() {
        window = std::make_unique<app::MainWindow>(folder.filePath(QStringLiteral("recordings")), 1);
        window->show();
        QVERIFY(QTest::qWaitForWindowExposed(window.get()));
        // A bare X server has no window manager that sets the keyboard focus.
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
    }
    app::Lab& lab() const { return *window->lab(); }
    widgets::PanelCell* cell(const std::string& panel) const {
        for (widgets::PanelCell* cell : window->views().grid->cells())
            if (cell->panel() == panel) return cell;
        return nullptr;
    }
    const RunData& run(int i) const { return *lab().comparison().runs[static_cast<std::size_t>(i)].data; }
    bool measured() const {
        return lab().view().exact() && run(0).probes.count("growth") && run(0).probes.count("jacobian");
    }
    bool ended() const {
        return !lab().training().playing() && !lab().comparison().anyTraining() &&
               !lab().comparison().exploring();
    }

    /// A stack that trains in milliseconds.
    void makeSmall(int steps) {
        for (const auto& [key, value] : std::vector<std::pair<const char*, int>>{{"stack.depth", 3},
                                                                                 {"stack.d_model", 16},
                                                                                 {"stack.heads", 2},
                                                                                 {"stack.context", 16},
                                                                                 {"batch", 2},
                                                                                 {"steps", steps}})
            lab().knobs().commitKey(key, value);
        lab().runs().undoStack()->clear();
    }
    /// For visual inspection: saved in the folder NORMSCOPE_SCREENSHOTS, if set.
    void keepScreenshot(const QString& name, QWidget* of = nullptr) const {
        const QString target = qEnvironmentVariable("NORMSCOPE_SCREENSHOTS");
        if (target.isEmpty()) return;
        settle();
        QVERIFY(
            (of ? of : window.get())->grab().save(target + QLatin1Char('/') + name + QStringLiteral(".png")));
    }
    template <class Widget>
    Widget* find(const char* name) const {
        return window->findChild<Widget*>(QLatin1String(name));
    }
};

}  // namespace normscope::test
