// SPDX-License-Identifier: GPL-3.0-or-later
// The default comparison to its end, and what is offered for the run that stalls.
#include "app/window/appearance_controller.h"
#include "remedies_bench.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/findings/remedy_table.h"

#include <QElapsedTimer>
#include <cstdio>

using namespace normscope;
using namespace normscope::app;
using normscope::test::box;
using normscope::test::drafted;
using normscope::test::WindowBench;

class DefaultRemediesWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theDefaultPostLnHasAtLeastTwoRemediesThatLearn() {
        WindowBench b;
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 600000);
        drafted(b);
        b.keepScreenshot("failed-light");
        b.window->appearance()->setDark(true);
        b.keepScreenshot("failed-dark");
        b.window->appearance()->setDark(false);
        QElapsedTimer clock;
        clock.start();
        const std::vector<std::size_t> shown = b.lab().remedies().trials()->shown();
        const std::vector<Remedy> remedies = b.lab().remedies().trials()->remedies;
        b.lab().remedies().tryOut(shown);
        // Schemes of their own names; the comparison has Pre-LN already.
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const QString name = QString::fromStdString(remedies[shown[i]].name);
            QCOMPARE(QString::fromStdString(b.run(static_cast<int>(i) + 2).name),
                     name == "Pre-LN" ? name + " · 2" : name);
        }
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 600000);
        std::printf("Try all: %.1f s\n", static_cast<double>(clock.elapsed()) / 1e3);
        b.keepScreenshot("tried-light");
        const auto learned = [&] {
            const auto& rows = box(b)->table().rows();  // the failed run first
            return rows.empty() ? 0
                                : std::count_if(rows.begin() + 1, rows.end(),
                                                [](const widgets::RemedyTable::Row& row) {
                                                    return row.state == RunState::Finished;
                                                });
        };
        QTRY_VERIFY(learned() >= 2);  // the band follows within 200 ms
    }
};

NORMSCOPE_WIDGET_TEST(DefaultRemediesWindowTest)
#include "default_remedies_window_test.moc"
