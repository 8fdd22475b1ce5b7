// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/transport_bar.h"

#include "tests/widgets/stack/quiet.h"
#include "widgets/stack/glyph.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>

using namespace normscope;
using namespace normscope::widgets;

class TransportBarTest : public QObject {
    Q_OBJECT

    struct Bench {
        TransportBar bar;
        QSignalSpy play{&bar, &TransportBar::play};
        QSignalSpy pause{&bar, &TransportBar::pause};
        QSignalSpy single{&bar, &TransportBar::singleStep};
        QSignalSpy scrubbed{&bar, &TransportBar::scrubbed};
        QSignalSpy fresh{&bar, &TransportBar::startNewRun};
        Bench() {
            bar.setRange(100, 200);
            bar.setStep(40);
            bar.resize(1200, TransportBar::kHeight);
            bar.show();
            QVERIFY(QTest::qWaitForWindowActive(&bar));
        }
        GlyphButton* button(Glyph glyph) {
            for (auto* button : bar.findChildren<GlyphButton*>())
                if (button->glyph() == glyph) return button;
            return nullptr;
        }
        void click(Glyph glyph) { QTest::mouseClick(button(glyph), Qt::LeftButton); }
        qint64 last() { return scrubbed.last()[0].toLongLong(); }
    };

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void settersAreSilent() {
        Bench b;
        b.bar.setPlaying(true);
        b.bar.setPreviewPending(true);
        QCOMPARE(b.play.count() + b.pause.count() + b.single.count() + b.scrubbed.count() + b.fresh.count(),
                 0);
    }

    void spacePlaysAndPauses() {
        Bench b;
        b.bar.scrubber()->setFocus();
        QTest::keyClick(&b.bar, Qt::Key_Space);
        QCOMPARE(b.play.count(), 1);
        QVERIFY(!b.bar.isPlaying());  // only asked
        b.bar.setPlaying(true);
        QVERIFY(b.button(Glyph::Pause) && !b.button(Glyph::Play));
        QTest::keyClick(&b.bar, Qt::Key_Space);
        QCOMPARE(b.pause.count(), 1);
        b.click(Glyph::Pause);
        QCOMPARE(b.pause.count(), 2);
    }

    void aButtonWithKeyboardFocusKeepsItsSpace() {
        Bench b;
        b.button(Glyph::Back)->setFocus(Qt::TabFocusReason);
        QTest::keyClick(b.button(Glyph::Back), Qt::Key_Space);
        QCOMPARE(b.play.count(), 0);
        QCOMPARE(b.last(), 39);
    }

    void buttonsScrub() {
        Bench b;
        b.click(Glyph::Back);
        QCOMPARE(b.last(), 39);
        b.click(Glyph::Forward);
        QCOMPARE(b.last(), 40);
        QCOMPARE(b.single.count(), 0);
        b.click(Glyph::Last);
        QCOMPARE(b.last(), 100);
        b.click(Glyph::Forward);  // at the end: train a step
        QCOMPARE(b.single.count(), 1);
        QCOMPARE(b.last(), 100);
        b.click(Glyph::First);
        QCOMPARE(b.last(), 0);
        QVERIFY(!b.button(Glyph::Back)->isEnabled());
    }

    void theScrubberStaysInWhatIsRecorded() {
        Bench b;
        auto* scrubber = b.bar.scrubber();
        const auto at = [&](qint64 step) {
            return QPoint(qRound(scrubber->xOf(step)), scrubber->height() / 2);
        };
        QTest::mouseClick(scrubber, Qt::LeftButton, {}, at(80));
        QVERIFY(qAbs(b.last() - 80) <= 1);
        QTest::mouseClick(scrubber, Qt::LeftButton, {}, at(190));
        QCOMPARE(b.last(), 100);
        QCOMPARE(b.bar.findChild<QSpinBox*>()->value(), 100);
        QTest::keyClick(scrubber, Qt::Key_Left);
        QCOMPARE(b.last(), 99);
        QTest::keyClick(scrubber, Qt::Key_Home);
        QCOMPARE(b.last(), 0);
        const auto count = b.scrubbed.count();
        QTest::keyClick(scrubber, Qt::Key_Left);
        QCOMPARE(b.scrubbed.count(), count);
    }

    void theFieldScrubsOnce() {
        Bench b;
        auto* field = b.bar.findChild<QSpinBox*>();
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, "77");
        QCOMPARE(b.scrubbed.count(), 0);
        b.bar.setRange(120, 200);  // a frame comes while somebody types
        b.bar.setStep(41);
        QCOMPARE(field->cleanText(), QStringLiteral("77"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(b.scrubbed.count(), 1);
        QCOMPARE(b.last(), 77);
    }

    void theNewRunIsOfferedOnlyWithAPreview() {
        Bench b;
        auto* button = b.bar.findChild<QPushButton*>();
        QVERIFY(!button->isVisible());
        b.bar.setPreviewPending(true);
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(b.fresh.count(), 1);
    }

    void nothingRecorded() {
        Bench b;
        b.bar.setRange(-1, 200);
        b.bar.setStep(0);
        QVERIFY(!b.button(Glyph::First)->isEnabled());
        QVERIFY(!b.button(Glyph::Last)->isEnabled());
        b.click(Glyph::Forward);
        QCOMPARE(b.single.count(), 1);
        QVERIFY(!b.bar.grab().isNull());
    }

    void unknownRatesAreDashes() {
        Bench b;
        bool found = false;
        b.bar.setRates(81234, 6.31, std::numeric_limits<double>::quiet_NaN());
        for (const auto* label : b.bar.findChildren<QLabel*>())
            found = found || label->text().contains(QStringLiteral("6.31 ms/step · probes – %"));
        QVERIFY(found);
    }

    void marksAreDrawnInTheirRunsColour() {
        Bench b;
        const QImage bare = b.bar.scrubber()->grab().toImage();
        b.bar.setMarks({{70, 1, RunState::Diverged, "inf"}, {20, 0, RunState::Running, "Δt 0.2"}});
        const QImage marked = b.bar.scrubber()->grab().toImage();
        const auto differs = [&](qint64 step, int from, int to) {
            const int x = qRound(b.bar.scrubber()->xOf(step));
            for (int y = from; y < to; ++y)
                for (int dx = -1; dx <= 1; ++dx)
                    if (bare.pixel(x + dx, y) != marked.pixel(x + dx, y)) return true;
            return false;
        };
        QVERIFY(differs(70, 0, 14));   // a glyph above the groove
        QVERIFY(differs(20, 26, 34));  // a tick below it
        QVERIFY(!differs(150, 0, 40));
    }
};

QTEST_MAIN(TransportBarTest)
#include "transport_bar_test.moc"
