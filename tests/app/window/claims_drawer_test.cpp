// SPDX-License-Identifier: GPL-3.0-or-later
// The list of the papers' statements: its rows, filters and results, and where its buttons lead.
#include "widgets/claims/claims_drawer.h"

#include "app/lab/claims_check.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/recordings_controller.h"
#include "app/window/search_controller.h"
#include "app/window/studies/claims_controller.h"
#include "core/claims/claims.h"
#include "legibility.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "widgets/claims/claim_details.h"
#include "widgets/claims/claim_texts.h"
#include "widgets/claims/claims_list.h"
#include "widgets/claims/claims_places.h"
#include "widgets/common/verdict_mark.h"
#include "widgets/dialogs/command_search.h"
#include "widgets/drawers/runs_drawer.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_row.h"
#include "window_bench.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <set>
#include <string_view>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

constexpr int kWait = 60000;  // ms, at most
/// One or more of each verdict.
const std::vector<std::string> kFew = {"E04", "E05", "E06", "E16", "E18", "E30", "N05", "G17", "B14", "K07"};

ClaimsDrawer& drawer(const WindowBench& b) {
    return *b.window->claims()->drawer();
}
ClaimsList& list(const WindowBench& b) {
    return *drawer(b).list();
}

void openDrawer(WindowBench& b) {
    QTest::keyClick(b.window.get(), Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(drawer(b).isVisible());
}

void measure(WindowBench& b) {
    auto* button = b.find<QPushButton>("claimsButton");
    QVERIFY(button->text().startsWith("Check"));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(button->text(), QString("Cancel"));
    QTRY_VERIFY_WITH_TIMEOUT(!b.lab().claims().running(), kWait);
}

void choose(WindowBench& b, const char* box, const QString& text) {
    auto* combo = b.find<QComboBox>(box);
    const int index = combo->findText(text);
    QVERIFY2(index >= 0, qPrintable(text));
    combo->setCurrentIndex(index);
}

void type(WindowBench& b, const QString& text) {
    b.find<QLineEdit>("claimSearch")->clear();
    QTest::keyClicks(b.find<QLineEdit>("claimSearch"), text);
}

QString row(const WindowBench& b, const QString& id) {
    const int at = static_cast<int>(list(b).ids().indexOf(id));
    return at < 0 ? QString() : list(b).item(at)->data(Qt::AccessibleTextRole).toString();
}

}  // namespace

class ClaimsDrawerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    void everyVerdictHasItsShape() {
        std::set<QByteArray> shapes;
        std::vector<std::optional<ClaimVerdict>> all(claimVerdicts().begin(), claimVerdicts().end());
        all.push_back(std::nullopt);
        for (const auto& verdict : all) {
            QImage image(14, 14, QImage::Format_Grayscale8);
            image.fill(Qt::white);
            QPainter painter(&image);
            paintMark(painter, QRectF(0, 0, 14, 14), markOf(verdict), Qt::black);
            painter.end();
            QByteArray dark;  // the places of the pixels that are drawn, without their shade
            for (int y = 0; y < 14; ++y)
                for (int x = 0; x < 14; ++x) dark += qGray(image.pixel(x, y)) < 128 ? '1' : '0';
            QVERIFY(dark.contains('1'));
            shapes.insert(dark);
        }
        QCOMPARE(shapes.size(), all.size());
    }

    void everyPlaceAndKnobIsInTheWindow() {
        WindowBench b;
        std::set<std::string> placed;
        for (const ClaimPlace& place : claimPlaces()) {
            QVERIFY2(find_claim(place.claim), place.claim);
            QVERIFY2(placed.insert(place.claim).second, place.claim);
            widgets::resolveOptions(widgets::panelInfo(place.panel), place.options);  // throws
        }
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        for (const Claim& claim : claims())
            if (*claim.knob && std::string_view(claim.knob) != "schedule.temperature_warmup")
                QVERIFY2(knobs->row(claim.knob), claim.knob);
        // A key without a knob is named.
        openDrawer(b);
        list(b).unfold("E29");
        QVERIFY(!list(b).details()->knob());
        QVERIFY(b.find<QLabel>("claimChange")->text().contains("schedule.temperature_warmup"));
    }

    void beforeACheckRowsAreThereAndStateNothing() {
        WindowBench b;
        openDrawer(b);
        QCOMPARE(list(b).ids().size(), static_cast<qsizetype>(claims().size()));
        QVERIFY(row(b, "K07").endsWith("not measured"));
        QVERIFY(b.find<QLabel>("claimsTitle")->text().contains("Pre-LN"));
        QVERIFY(b.find<QLabel>("claimsState")->text().contains("step 0"));
        QTest::keyClick(b.window.get(), Qt::Key_Escape);
        QVERIFY(!drawer(b).isVisible());
        // The drawers lie at the same place.
        openDrawer(b);
        b.window->recordings()->toggle();
        QVERIFY(!drawer(b).isVisible() && b.window->recordings()->drawer()->isVisible());
        openDrawer(b);
        QVERIFY(!b.window->recordings()->drawer()->isVisible());
        b.window->search()->open();
        auto* search = b.find<widgets::CommandSearch>("commandSearch");
        QVERIFY(search);
        QTest::keyClicks(search->findChild<QLineEdit*>("commandInput"), "claims of the papers");
        QTest::keyClick(search->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);
        QTRY_VERIFY(!drawer(b).isVisible());
    }

    void resultsArriveRowByRow() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().claims().setOnly(kFew);
        openDrawer(b);
        QStringList states;
        connect(&b.lab().claims(), &ClaimsCheck::measured, this, [&](const QString& id) {
            QVERIFY(!row(b, id).endsWith("not measured"));
            states << b.find<QLabel>("claimsState")->text();
        });
        measure(b);
        QCOMPARE(states.size(), qsizetype(kFew.size()));
        QCOMPARE(states[2], QString("measuring at step 0: 3 of %1").arg(kFew.size()));
        QCOMPARE(b.find<QLabel>("claimsState")->text(), QString("measured at step 0"));
        QVERIFY(row(b, "E05").contains("holds"));
        QVERIFY(row(b, "E04").contains("corrected"));
        QVERIFY(row(b, "E06").contains("fails"));
        QVERIFY(row(b, "G17").contains("not applicable"));
        QVERIFY(row(b, "E30").contains("unknown, needs recorded runs"));
        QVERIFY(list(b).need("E30").startsWith("needs recorded runs"));
        // Toy scale: numbers, never pass or fail.
        QVERIFY2(row(b, "E18").contains("toy"), qPrintable(row(b, "E18")));
        for (const char* word : {"holds", "fails", "corrected"}) QVERIFY(!row(b, "E18").contains(word));
        const QString counts = b.find<QWidget>("claimCounts")->accessibleName();
        for (const char* part : {"1 not applicable", "1 unknown", "1 toy"})
            QVERIFY2(counts.contains(part), qPrintable(counts));
        list(b).unfold("E30");
        QVERIFY2(list(b).details()->text().startsWith("Needs recorded runs"),
                 qPrintable(list(b).details()->text()));
        list(b).unfold("E18");
        QVERIFY(list(b).details()->text().contains("no verdict"));
    }

    void filtersByPaperVerdictAndText() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().claims().setOnly(kFew);
        openDrawer(b);
        for (const ClaimPaper& paper : claimPapers()) {
            choose(b, "claimPaper", paper.title);
            QVERIFY(!list(b).ids().isEmpty());
            for (const QString& id : list(b).ids()) QCOMPARE(id[0], QChar(paper.letter));
        }
        choose(b, "claimPaper", "All papers");
        choose(b, "claimVerdict", "fails");
        QVERIFY(list(b).ids().isEmpty());
        QVERIFY(b.find<QLabel>("claimsEmpty")->isVisible());
        measure(b);
        QVERIFY(list(b).ids().contains("E06") && !list(b).ids().contains("E05"));
        choose(b, "claimVerdict", "unknown");
        QCOMPARE(list(b).ids(), QStringList{"E30"});
        choose(b, "claimVerdict", "All verdicts");
        type(b, "one-hot row");
        QCOMPARE(list(b).ids(), QStringList{"E05"});
        type(b, "k07");
        QCOMPARE(list(b).ids(), QStringList{"K07"});
        type(b, "");
        QCOMPARE(list(b).ids().size(), static_cast<qsizetype>(claims().size()));
    }

    void cancellingAndAnotherRun() {
        WindowBench b;
        b.makeSmall(6);
        openDrawer(b);
        auto* button = b.find<QPushButton>("claimsButton");
        QSignalSpy arrived(&b.lab().claims(), &ClaimsCheck::measured);
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(arrived.size() >= 3, kWait);
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(!b.lab().claims().running());
        QCOMPARE(button->text(), QString("Check the rest"));
        const QString state = b.find<QLabel>("claimsState")->text();
        QVERIFY2(state.contains(QString("%1 of %2").arg(arrived.size()).arg(claims().size())),
                 qPrintable(state));
        const QString first = list(b).ids()[0];
        QVERIFY(!row(b, first).endsWith("not measured"));
        b.lab().runs().select(1);
        QVERIFY(b.find<QLabel>("claimsTitle")->text().contains("Post-LN"));
        QVERIFY(row(b, first).endsWith("not measured"));
        b.lab().runs().select(0);
        QVERIFY(!row(b, first).endsWith("not measured"));
        QVERIFY(!b.find<QLabel>("claimsRemark")->isVisible());
        b.lab().knobs().commitKey("stack.norm.eps", 1e-2);
        QVERIFY(b.find<QLabel>("claimsRemark")->text().startsWith("Outdated"));
        QVERIFY(list(b).outdated());
        QCOMPARE(button->text(), QString("Check"));
        b.lab().runs().undoStack()->undo();
        QVERIFY(!b.find<QLabel>("claimsRemark")->isVisible());
    }

    void aRowIsUnfoldedByKeysAndByAClick() {
        WindowBench b;
        openDrawer(b);
        QVERIFY(list(b).hasFocus());
        QTest::keyClick(&list(b), Qt::Key_Down);
        QTest::keyClick(&list(b), Qt::Key_Return);
        QCOMPARE(list(b).unfolded(), list(b).ids()[1]);
        QVERIFY(list(b).details()->isVisible());
        const int unfolded = list(b).visualItemRect(list(b).item(1)).height();
        QTest::keyClick(&list(b), Qt::Key_Return);
        QVERIFY(list(b).unfolded().isEmpty());
        QVERIFY(list(b).visualItemRect(list(b).item(1)).height() < unfolded);
        QTest::keyClick(&list(b), Qt::Key_Right);
        QCOMPARE(list(b).unfolded(), list(b).ids()[1]);
        // Another row folds it.
        const QPoint third = list(b).visualItemRect(list(b).item(0)).center();
        QTest::mouseClick(list(b).viewport(), Qt::LeftButton, {}, third);
        QCOMPARE(list(b).unfolded(), list(b).ids()[0]);
        // Tab reaches what is unfolded, and leads back.
        list(b).unfold("K07");
        QVERIFY(list(b).details()->knob() && list(b).details()->showButton());
        QTest::keyClick(&list(b), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(list(b).details()->knob()));
        QTest::keyClick(list(b).details()->knob(), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(list(b).details()->showButton()));
        QTest::keyClick(list(b).details()->knob(), Qt::Key_Tab, Qt::ShiftModifier);
        QTest::keyClick(list(b).details()->knob(), Qt::Key_Tab, Qt::ShiftModifier);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(!drawer(b).isVisible());
    }

    void itsButtonsLeadToTheKnobAndToThePanel() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().claims().setOnly({"E16", "N05"});
        openDrawer(b);
        list(b).unfold("E16");
        QTest::mouseClick(list(b).details()->knob(), Qt::LeftButton);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        QVERIFY(knobs->row("stack.norm.eps")->isVisible());
        QVERIFY(knobs->row("stack.norm.eps")->isAncestorOf(QApplication::focusWidget()));
        QVERIFY(!b.cell("spectra"));
        list(b).unfold("E22");
        QTest::mouseClick(list(b).details()->showButton(), Qt::LeftButton);
        widgets::PanelCell* cell = b.cell("spectra");
        QVERIFY(cell && cell->isVisible());
        QCOMPARE(cell->options().at("view"), std::string("layers"));
        const QRect at(cell->mapTo(b.window.get(), QPoint(0, 0)), cell->size());
        QVERIFY(!at.intersects(drawer(b).geometry()));  // in sight
        QCOMPARE(b.cell("growth"), b.window->views().grid->cells()[0]);
        // A result about another stack is not in the panels of this one.
        b.lab().runs().select(0);
        measure(b);
        list(b).unfold("N05");
        QVERIFY2(list(b).details()->text().startsWith("The same stack"),
                 qPrintable(list(b).details()->text()));
        QVERIFY(!list(b).details()->showButton()->isVisible());
    }

    void showLeadsToTheStepThatWasMeasured() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), kWait);
        b.lab().claims().setOnly({"E16", "E30"});
        b.lab().view().setStep(2);
        openDrawer(b);
        measure(b);
        QCOMPARE(b.find<QLabel>("claimsState")->text(), QString("measured at step 2"));
        b.lab().view().setStep(LabView::kNewest);
        QVERIFY(b.find<QLabel>("claimsRemark")->text().contains("the window shows step 5"));
        list(b).unfold("E30");
        QVERIFY(list(b).details()->text().contains("one seed"));
        QTest::mouseClick(list(b).details()->showButton(), Qt::LeftButton);
        QCOMPARE(b.lab().view().step(), 2);
        QVERIFY(!b.find<QLabel>("claimsRemark")->isVisible());
    }

    void itCanBeRead() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), kWait);
        b.makeSmall(6);
        b.lab().claims().setOnly(
            qEnvironmentVariableIsSet("NORMSCOPE_SCREENSHOTS") ? std::vector<std::string>{} : kFew);
        openDrawer(b);
        measure(b);
        list(b).unfold("E16");
        QStringList all;
        for (const QSize size : {QSize(1440, 900), QSize(1920, 1080)})
            for (const bool dark : {false, true}) {
                b.window->appearance()->setDark(dark);
                b.window->resize(size);
                test::settle();
                b.keepScreenshot(
                    QStringLiteral("claims-%1-%2").arg(size.width()).arg(dark ? "dark" : "light"));
                for (const QString& fault : test::illegible(*b.window))
                    if (fault.startsWith('Q') || fault.startsWith("elided")) all << fault;  // widgets
                QCOMPARE(drawer(b).geometry().right(),
                         b.window->views().grid->mapTo(b.window.get(), QPoint(0, 0)).x() +
                             b.window->views().grid->width() - 1);
            }
        b.window->appearance()->setDark(false);
        QVERIFY2(all.isEmpty(), qPrintable('\n' + all.join('\n')));
        // No row's text is higher than its row: the statement wraps inside its column.
        for (const int i : {0, 20, 60, 100}) {
            list(b).scrollToItem(list(b).item(i));
            b.keepScreenshot(QStringLiteral("claims-row-%1").arg(i));
        }
    }
};

NORMSCOPE_WIDGET_TEST(ClaimsDrawerTest)
#include "claims_drawer_test.moc"
