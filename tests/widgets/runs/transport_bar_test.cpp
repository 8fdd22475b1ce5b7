// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/transport_bar.h"

#include "tests/support/test_main.h"
#include "tests/widgets/paints.h"
#include "tests/widgets/quiet.h"
#include "widgets/plots/glyph.h"
#include "widgets/runs/bar_button.h"

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
        QSignalSpy fresh{&bar, &TransportBar::replaceRuns};
        Bench() {
            bar.setRange(100, 200);
            bar.setStep(40);
            bar.resize(1440, TransportBar::kHeight);
            bar.show();
            QVERIFY(QTest::qWaitForWindowActive(&bar));
        }
        GlyphButton* button(Glyph glyph) {
            for (auto* button : bar.findChildren<GlyphButton*>())
                if (button->glyph() == glyph) return button;
            return nullptr;
        }
        BarButton* train() const { return bar.findChild<BarButton*>("playButton"); }
        QLabel* note() const { return bar.findChild<QLabel*>("rates"); }
        void click(Glyph glyph) { QTest::mouseClick(button(glyph), Qt::LeftButton); }
        qint64 last() { return scrubbed.last()[0].toLongLong(); }
    };

    static std::vector<StepLane> lanes() {
        return {{"Pre-LN", 0, 100, {0, 1, 2, 16, 32}, {0, 2, 32}},
                {"Post-LN", 1, 64, {0, 32, 48, 64}, {0, 64}}};
    }

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void settersAreSilent() {
        Bench b;
        b.bar.setPlaying(true);
        b.bar.setReplaceable(true);
        QCOMPARE(b.play.count() + b.pause.count() + b.single.count() + b.scrubbed.count() + b.fresh.count(),
                 0);
    }

    void whatIsShownAlreadyIsNotPaintedAgain() {
        Bench b;
        const auto set = [&](qint64 step) {
            b.bar.setRange(100, 200);
            b.bar.setLanes(lanes());
            b.bar.setMarks({{32, 1, RunState::Diverged, "spike"}});
            b.bar.setStep(step);
            b.bar.setPlaying(false);
            b.bar.setMeasuring({});
            b.bar.setReplaceable(false);
        };
        set(40);
        test::Paints paints(&b.bar);
        set(40);
        QCOMPARE(paints.painted().join(u' '), QString());
        set(41);
        QVERIFY(paints.painted().contains(QStringLiteral("normscope::widgets::StepScrubber")));
    }

    void spacePlaysAndPauses() {
        Bench b;
        b.bar.scrubber()->setFocus();
        QTest::keyClick(&b.bar, Qt::Key_Space);
        QCOMPARE(b.play.count(), 1);
        QVERIFY(!b.bar.isPlaying());  // only requested
        b.bar.setPlaying(true);
        QVERIFY(b.train()->glyph() == Glyph::Pause);
        QCOMPARE(b.train()->text(), QStringLiteral("Pause"));
        QTest::keyClick(&b.bar, Qt::Key_Space);
        QCOMPARE(b.pause.count(), 1);
        QTest::mouseClick(b.train(), Qt::LeftButton);
        QCOMPARE(b.pause.count(), 2);
    }

    void theButtonNamesWhatItDoes() {
        Bench b;
        QCOMPARE(b.train()->text(), QStringLiteral("Train"));
        QVERIFY(b.train()->glyph() == Glyph::Play);
        QCOMPARE(b.train()->size(), QSize(140, 34));
        b.bar.setPlaying(false, "Resume 12 runs");
        QCOMPARE(b.train()->text(), QStringLiteral("Resume 12 runs"));
        QVERIFY(b.train()->glyph() == Glyph::Play);
        b.bar.setPlaying(false, "All ended", "Every run has ended");
        QVERIFY(!b.train()->isEnabled());
        QCOMPARE(b.train()->toolTip(), QStringLiteral("Every run has ended"));
        b.bar.setPlaying(true, "Resume");
        QVERIFY(b.train()->isEnabled());
        QCOMPARE(b.train()->text(), QStringLiteral("Pause"));
        b.bar.setPlaying(false);
        QCOMPARE(b.train()->text(), QStringLiteral("Train"));
    }

    /// As wide as the left column; the lanes begin where the plots do.
    void theScrubberBeginsAtTheCentre() {
        Bench b;
        for (const int left : {280, 320}) {
            b.bar.setLeftWidth(left);
            QTRY_COMPARE(b.bar.scrubber()->x(), left);
            QCOMPARE(b.bar.scrubber()->xOf(0), 56.0);
        }
    }

    /// Whatever the bar states, nothing in it moves.
    void noTextMovesAnything() {
        Bench b;
        b.bar.setLanes(lanes());
        const auto places = [&] {
            QCoreApplication::processEvents();
            std::map<const QWidget*, QRect> all;
            for (const QWidget* widget : b.bar.findChildren<QWidget*>())
                if (widget->isVisibleTo(&b.bar)) all[widget] = widget->geometry();
            return all;
        };
        const auto start = places();
        for (const qint64 step : {0, 7, 100}) {
            b.bar.setStep(step);
            QVERIFY(places() == start);
        }
        b.bar.setPlaying(true, "Resume");
        b.bar.setRates(1234567, 12.5, 12);
        QVERIFY(places() == start);
        b.bar.setDeviceUse("cuda:1", "71.2 of 79.1 GiB free");
        QVERIFY(places() == start);
        b.bar.setMeasuring("measuring Post-LN\nat step 45, replay at 40 …");
        QVERIFY(places() == start);
        b.bar.setPlaying(false, "Resume");
        b.bar.setMeasurable(true, {});
        b.bar.setForkable(true, {});
        QVERIFY(places() == start);
    }

    void theNoteStatesHowTheStepWasMeasured() {
        Bench b;
        b.bar.setLanes(lanes());
        const auto at = [&](qint64 step) {
            b.bar.setStep(step);
            return b.note()->text();
        };
        QCOMPARE(at(0), QStringLiteral("measured by every panel"));
        QCOMPARE(at(32), QStringLiteral("measured by some panels"));
        QCOMPARE(at(40), QStringLiteral("not measured: nearest 32 / 48"));
        QCOMPARE(at(90), QStringLiteral("not measured: nearest 64"));
        QCOMPARE(b.note()->accessibleName(), QStringLiteral("Measured"));
        b.bar.setRange(-1, 199);
        QCOMPARE(at(0), QStringLiteral("initial weights, nothing trained yet"));
    }

    /// Steps are counted from 0: the last one of 200 is 199.
    void theNumberOfStepsIsStated() {
        Bench b;
        b.bar.setRange(-1, 199);
        QStringList texts;
        for (const auto* label : b.bar.findChildren<QLabel*>()) texts << label->text();
        QVERIFY(texts.contains("Step") && texts.contains("of 200"));
        QCOMPARE(b.bar.findChild<QSpinBox*>()->font().pixelSize(), 20);
    }

    void forkingIsOfferedOrTheReasonIsGiven() {
        Bench b;
        QSignalSpy forked(&b.bar, &TransportBar::forkHere);
        auto* fork = b.bar.findChild<QPushButton*>("forkHere");
        b.bar.setForkable(false, "Post-LN has no checkpoint");
        QVERIFY(!fork->isEnabled());
        QCOMPARE(fork->toolTip(), QStringLiteral("Post-LN has no checkpoint"));
        b.bar.setForkable(true, {});
        QTest::mouseClick(fork, Qt::LeftButton);
        QCOMPARE(forked.count(), 1);
        const QRect place = fork->geometry();
        b.bar.setReplaceable(true);  // the fork would keep the stack
        QVERIFY(!fork->isVisible());
        QTRY_COMPARE(b.bar.findChild<QPushButton*>("replaceRuns")->geometry(), place);
    }

    /// While a fork is replayed its button ends it, whatever can be forked meanwhile.
    void aReplayedForkIsCancelledByItsButton() {
        Bench b;
        QSignalSpy forked(&b.bar, &TransportBar::forkHere);
        auto* fork = b.bar.findChild<BarButton*>("forkHere");
        b.bar.setForking("replaying Post-LN\nto step 30, at 12 …");
        b.bar.setForkable(false, "none");
        QVERIFY(fork->isEnabled());
        QCOMPARE(fork->text(), QStringLiteral("Cancel fork"));
        QTest::mouseClick(fork, Qt::LeftButton);
        QCOMPARE(forked.count(), 1);
        b.bar.setForking({});
        b.bar.setForkable(false, "none");
        QVERIFY(!fork->isEnabled());
        QCOMPARE(fork->text(), QStringLiteral("Fork here"));
    }

    /// A long act is as wide as its button: its key would lie over it.
    void aLongActIsDrawnWithoutItsKey() {
        Bench b;
        const auto drawn = [&](const QString& act, const QString& key) {
            b.bar.setPlaying(false, act);
            b.train()->setNote(key);
            return b.train()->grab().toImage();
        };
        QCOMPARE(drawn("Start new run", "Space"), drawn("Start new run", {}));
        QVERIFY(drawn("Train", "Space") != drawn("Train", {}));
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
        QVERIFY(qAbs(b.last() - 80) <= 1);  // a pixel is half a step there
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
        b.bar.setRange(120, 200);  // a frame arrives during typing
        b.bar.setStep(41);
        QCOMPARE(field->cleanText(), QStringLiteral("77"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(b.scrubbed.count(), 1);
        QCOMPARE(b.last(), 77);
    }

    void theNewRunIsOfferedOnlyWithAPreview() {
        Bench b;
        auto* button = b.bar.findChild<QPushButton*>("replaceRuns");
        QVERIFY(!button->isVisible());
        b.bar.setReplaceable(true);
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
            found = found || label->text().contains(QStringLiteral(" tokens/s · 6.31 ms/step\nprobes – %"));
        QVERIFY(found);
    }

    /// Whole, also where the values are long, and the scrubber keeps its length.
    void theDeviceAndItsMemoryAreNextToTheSpeed() {
        Bench b;
        const int length = b.bar.scrubber()->width();
        b.bar.setRates(1234567, 1234, 56);
        b.bar.setDeviceUse("cuda-emulated", "199.9 of 200.1 GiB free");
        QStringList lines;
        for (const auto* label : b.bar.findChildren<QLabel*>())
            if (label->accessibleName() == u"Speed") lines = label->text().split('\n');
        QCOMPARE(lines.size(), 2);
        QCOMPARE(lines[0], "cuda-emulated · " + QLocale().toString(1234567) + " tokens/s · 1.23 s/step");
        QCOMPARE(lines[1], QStringLiteral("probes 56 % · 199.9 of 200.1 GiB free"));
        QCOMPARE(b.bar.scrubber()->width(), length);
        for (const auto* label : b.bar.findChildren<QLabel*>())
            if (label->accessibleName() == u"Speed")
                QVERIFY(label->sizeHint().width() <= label->width() &&
                        label->sizeHint().height() <= label->height());
    }

    void marksAreDrawnInTheirRunsColour() {
        Bench b;
        b.bar.setLanes(lanes());
        const QImage bare = b.bar.scrubber()->grab().toImage();
        b.bar.setMarks({{70, 1, RunState::Diverged, "inf"}, {20, 0, RunState::Running, "Δt 0.2"}});
        const QImage marked = b.bar.scrubber()->grab().toImage();
        const auto differs = [&](qint64 step, int from, int to) {
            const int x = qRound(b.bar.scrubber()->xOf(step));
            for (int y = from; y < to; ++y)
                for (int dx = -1; dx <= 12; ++dx)
                    if (bare.pixel(x + dx, y) != marked.pixel(x + dx, y)) return true;
            return false;
        };
        QVERIFY(differs(70, 12, 38));  // a glyph in the run's lane
        QVERIFY(!differs(70, 0, 10));
        QVERIFY(differs(20, 4, 11));  // a tick above them
        QVERIFY(!differs(20, 12, 56));
        QVERIFY(!differs(150, 0, 56));
    }

    void timeIsLogarithmic() {
        Bench b;
        const auto* s = b.bar.scrubber();
        const double half = (s->xOf(0) + s->xOf(200)) / 2;
        QVERIFY(s->xOf(13) < half && s->xOf(14) > half);  // √201 − 1 = 13.2
        QVERIFY(qAbs((s->xOf(3) - s->xOf(1)) - (s->xOf(1) - s->xOf(0))) < 1e-9);
    }

    void aDragSnapsToMeasuredSteps() {
        Bench b;
        auto* s = b.bar.scrubber();
        b.bar.setLanes(lanes());
        QSet<qint64> seen;
        QTest::mousePress(s, Qt::LeftButton, {}, QPoint(qRound(s->xOf(2)), 25));
        for (int x = qRound(s->xOf(0)); x < s->width(); x += 7) {
            QTest::mouseMove(s, QPoint(x, 25));
            QMouseEvent move(QEvent::MouseMove, QPointF(x, 25), s->mapToGlobal(QPointF(x, 25)), Qt::NoButton,
                             Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(s, &move);
            seen.insert(s->step());
        }
        QCOMPARE(seen, (QSet<qint64>{0, 1, 2, 16, 32, 48, 64, 100}));  // 100: the newest, which is followed
    }

    void keysAndButtonsGoFromMeasuredToMeasuredStep() {
        Bench b;
        auto* s = b.bar.scrubber();
        b.bar.setLanes(lanes());
        QTest::keyClick(s, Qt::Key_Left);  // from 40, which was not measured
        QCOMPARE(b.last(), 32);
        QTest::keyClick(s, Qt::Key_Right);
        QCOMPARE(b.last(), 48);
        QTest::keyClick(s, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(b.last(), 49);
        QTest::keyClick(s, Qt::Key_Left, Qt::ShiftModifier);
        QTest::keyClick(s, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(b.last(), 47);
        b.click(Glyph::Forward);
        QCOMPARE(b.last(), 48);
        b.click(Glyph::Back);
        QCOMPARE(b.last(), 32);
        QTest::keyClick(s, Qt::Key_PageDown);
        QCOMPARE(b.last(), 0);
        b.click(Glyph::Last);
        QCOMPARE(b.last(), 100);
        QCOMPARE(b.single.count(), 0);
    }

    void aTickIsTallWhereEveryPanelWasMeasured() {
        Bench b;
        auto* s = b.bar.scrubber();
        b.bar.setStep(7);
        b.bar.setLanes({{"A", 0, 100, {16, 32}, {32}}});
        QVERIFY(s->measuredByAll(32) && !s->measuredByAll(16) && !s->measuredByAll(7));
        const QImage image = s->grab().toImage();
        const auto height =
            [&](qint64 step) {  // rows that differ from a neighbouring position without a tick
                const int x = qRound(s->xOf(step));
                int rows = 0;
                for (int y = 11; y < 38; ++y) {
                    bool differs = false;
                    for (int dx = -1; dx <= 1; ++dx)
                        differs |= image.pixel(x + dx, y) != image.pixel(x + 5, y);
                    rows += differs;
                }
                return rows;
            };
        QVERIFY2(height(32) > height(16) && height(16) > 0,
                 qPrintable(QString("%1 %2").arg(height(32)).arg(height(16))));
    }

    void theAccessibleTextNamesMeasuredSteps() {
        Bench b;
        b.bar.setLanes(lanes());
        b.bar.setStep(32);
        QCOMPARE(
            b.bar.scrubber()->accessibleDescription(),
            "step 32 of 200; Pre-LN: measured here, at 5 steps in all; Post-LN: measured here in part, at 4 "
            "steps in all");
    }

    void measuringIsOfferedAndCanBeEnded() {
        Bench b;
        QSignalSpy asked(&b.bar, &TransportBar::measureHere);
        auto* button = b.bar.findChild<QPushButton*>("measureHere");
        const int wide = b.bar.scrubber()->width();
        b.bar.setMeasurable(false, "Post-LN has no checkpoint");
        QVERIFY(!button->isEnabled());
        QCOMPARE(button->toolTip(), "Post-LN has no checkpoint");
        b.bar.setMeasurable(true, {});
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
        b.bar.setMeasuring("measuring Post-LN\nat step 45 …");
        b.bar.setMeasurable(false, "pending");
        QVERIFY(button->isEnabled());
        QCOMPARE(button->text(), "Cancel");
        bool shown = false;
        for (const auto* label : b.bar.findChildren<QLabel*>()) shown |= label->text().contains("Post-LN");
        QVERIFY(shown);
        QCoreApplication::processEvents();
        QCOMPARE(b.bar.scrubber()->width(), wide);  // nothing moves
        b.bar.setMeasuring({});
        QCOMPARE(button->text(), "Measure");
    }
};

NORMSCOPE_WIDGET_TEST(TransportBarTest)
#include "transport_bar_test.moc"
