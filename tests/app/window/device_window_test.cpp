// SPDX-License-Identifier: GPL-3.0-or-later
// The device of trainings in the window: the menu, the settings, the transport bar, a device that fails.
#include "app/window/appearance_controller.h"
#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/app/remote/there.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/transport_bar.h"
#include "window_bench.h"

#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScreen>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

struct DeviceBench : WindowBench {
    DeviceBench() {
        emulated_cuda_device().fail_at({});
        if (!QTest::qWaitFor([this] { return !lab().devices().known().empty(); }, 20000))
            throw std::runtime_error("no devices are found");
    }
    ~DeviceBench() {
        window.reset();
        emulated_cuda_device().fail_at({});
    }
    widgets::TransportBar* transport() const { return find<widgets::TransportBar>("transportBar"); }
    widgets::DeviceButton* button() const { return transport()->device(); }
    QAction* entry(const QString& word) const {
        for (QAction* action : button()->menu()->actions())
            if (action->text().startsWith(word + ' ')) return action;
        return nullptr;
    }
    QStringList rates() const {
        for (QLabel* label : transport()->findChildren<QLabel*>())
            if (label->accessibleName() == u"Speed") return label->text().split('\n');
        return {};
    }
    /// With the open menu, which a grab of the window does not contain.
    void keepScreen(const QString& name) const {
        const QString target = qEnvironmentVariable("NORMSCOPE_SCREENSHOTS");
        if (target.isEmpty()) return;
        test::settle();
        QVERIFY(window->screen()->grabWindow(0).save(target + '/' + name + ".png"));
    }
};

}  // namespace

class DeviceWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theMenuHasWhatIsMissingAndKeepsAChoice() {
        DeviceBench b;
        for (const bool dark : {false, true}) {
            b.window->appearance()->setDark(dark);
            QTimer::singleShot(200, b.window.get(), [&] {
                b.keepScreen(dark ? "menu-dark" : "menu-light");
                b.button()->menu()->close();
            });
            b.button()->showMenu();
        }
        QCOMPARE(b.button()->text(), QStringLiteral("cpu"));
        QCOMPARE(b.button()->menu()->actions().size(), 5);  // three devices, a line, another machine
        QAction* const cuda = b.button()->menu()->actions()[0];
        QCOMPARE(cuda->text(), QStringLiteral("CUDA: NORMSCOPE_CUDA_PLUGIN is empty"));
        QVERIFY(!cuda->isEnabled());
        QVERIFY(b.entry("cpu")->isChecked() && b.entry("cpu")->isEnabled());
        QVERIFY2(b.entry("cpu")->text().endsWith("GiB free"), qPrintable(b.entry("cpu")->text()));
        b.entry("cuda-emulated")->trigger();
        QCOMPARE(b.lab().devices().chosen(), std::string("cuda-emulated"));
        QCOMPARE(b.button()->text(), QStringLiteral("cuda-emulated"));
        QVERIFY(b.entry("cuda-emulated")->isChecked() && !b.entry("cpu")->isChecked());
        QCOMPARE(widgets::Settings().backend(), QStringLiteral("cuda-emulated"));
        b.window.reset();
        b.open();
        QTRY_COMPARE(b.button()->text(), QStringLiteral("cuda-emulated"));
        QCOMPARE(b.lab().devices().chosen(), std::string("cuda-emulated"));
    }

    /// The choice is kept for the day the card is back.
    void aChoiceThatIsGoneIsReported() {
        DeviceBench b;
        widgets::Settings().setBackend("cuda:1");
        b.window.reset();
        b.open();
        QTRY_COMPARE(
            b.window->views().banner->message(),
            QStringLiteral("cuda:1 is not available: NORMSCOPE_CUDA_PLUGIN is empty; training is on cpu"));
        QCOMPARE(b.button()->text(), QStringLiteral("cpu"));
        QCOMPARE(widgets::Settings().backend(), QStringLiteral("cuda:1"));
    }

    /// The dialog, the menu's rows and the button, with a connection and without one.
    void anotherMachineIsADevice() {
        const test::There there;
        DeviceBench b;
        b.makeSmall(6);
        const auto connectTo = [&](const QString& text) {
            QAction* const another = b.button()->menu()->actions().last();  // the menu may be another one
            QCOMPARE(another->text(), QStringLiteral("Another machine over ssh …"));
            another->trigger();
            for (auto* dialog : b.window->findChildren<QInputDialog*>()) {
                if (!dialog->isVisible()) continue;
                dialog->setTextValue(text);
                return dialog->accept();
            }
            QFAIL("no dialog");
        };
        connectTo("a;b");
        QVERIFY2(b.window->views().banner->message().startsWith("ssh://a;b: \"a;b\" is no host, allowed: "),
                 qPrintable(b.window->views().banner->message()));
        QCOMPARE(b.button()->text(), QStringLiteral("cpu"));
        connectTo("there" NORMSCOPE_CLI);
        QCOMPARE(b.button()->text(), QStringLiteral("there connecting"));
        QTRY_COMPARE_WITH_TIMEOUT(b.button()->text(), QStringLiteral("there cpu"), 20000);
        QVERIFY(b.entry("there cpu")->isChecked() && b.entry("there cpu")->isEnabled());
        QVERIFY2(b.entry("there cpu")->text().endsWith("GiB free"), qPrintable(b.entry("there cpu")->text()));
        QVERIFY(!b.entry("there cpu")->toolTip().section('\n', -1).isEmpty());
        QVERIFY(widgets::Settings().backend().startsWith("ssh://there/"));
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        b.keepScreenshot("another-machine");
        there.cut();
        QTRY_COMPARE_WITH_TIMEOUT(b.button()->text(), QStringLiteral("there reconnecting"), 20000);
        QVERIFY(b.window->views().banner->message().startsWith("The connection to there is cut"));
        there.restore();
        QTRY_COMPARE_WITH_TIMEOUT(b.button()->text(), QStringLiteral("there cpu"), 20000);
        QCOMPARE(b.window->views().banner->message(), QStringLiteral("there is connected again"));
        test::There::kill();
        QTRY_COMPARE_WITH_TIMEOUT(b.button()->text(), QStringLiteral("cpu"), 30000);
        QCOMPARE(b.window->views().banner->message(),
                 QStringLiteral("there: the engine has ended there; training is on cpu"));
    }

    void theTransportHasDeviceSpeedAndMemory() {
        DeviceBench b;
        b.makeSmall(100000);
        b.entry("cuda-emulated")->trigger();
        QVERIFY2(b.button()->toolTip().contains("next training"), qPrintable(b.button()->toolTip()));
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.rates().size() == 2 && b.rates()[1].contains(" · "), 60000);
        QVERIFY2(b.rates()[0].startsWith("cuda-emulated · ") && b.rates()[0].contains(" tokens/s · "),
                 qPrintable(b.rates()[0]));
        QVERIFY2(b.rates()[1].endsWith(" GiB free"), qPrintable(b.rates()[1]));
        for (const QString& line : b.rates()) QVERIFY(!line.contains(u'…'));
        QVERIFY2(b.button()->toolTip().contains("applies at the next start"),
                 qPrintable(b.button()->toolTip()));
        b.keepScreenshot("training-cuda-emulated");
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        b.entry("cpu")->trigger();
        b.lab().knobs().commitKey("steps", 50000);
        b.lab().training().replaceRuns();
        QTRY_VERIFY_WITH_TIMEOUT(b.rates().size() == 2 && b.rates()[0].startsWith("cpu · "), 60000);
        QVERIFY2(b.rates()[1].endsWith(" MiB resident"), qPrintable(b.rates()[1]));
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void aLostDeviceIsReportedAndTheRunsResumed() {
        DeviceBench b;
        b.makeSmall(12);  // too few for a verdict
        b.entry("cuda-emulated")->trigger();
        emulated_cuda_device().fail_at({0, 20000});
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab().training().failedRuns().size() == 2, 600000);
        QTRY_VERIFY(b.window->views().banner->message().count("the device is lost") == 2);
        b.keepScreenshot("lost");
        QPushButton* resume = nullptr;
        for (auto* button : b.window->views().banner->findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == u"Resume on cpu") resume = button;
        QVERIFY(resume);
        QTest::mouseClick(resume, Qt::LeftButton);
        QTRY_VERIFY(b.lab().training().failedRuns().empty());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(0).outcome.state == RunState::Finished &&
                                     b.run(1).outcome.state == RunState::Finished,
                                 60000);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{12});
        QCOMPARE(b.lab().devices().chosen(), std::string("cuda-emulated"));  // of the next training
        b.keepScreenshot("resumed");
    }
};

NORMSCOPE_WIDGET_TEST(DeviceWindowTest)
#include "device_window_test.moc"
