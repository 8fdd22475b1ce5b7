// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "widgets/panels/panel_grid.h"

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

namespace normscope::test {

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
        QTest::qWait(300);  // the bars update a few times a second
        QVERIFY(
            (of ? of : window.get())->grab().save(target + QLatin1Char('/') + name + QStringLiteral(".png")));
    }
    template <class Widget>
    Widget* find(const char* name) const {
        return window->findChild<Widget*>(QLatin1String(name));
    }
};

}  // namespace normscope::test
