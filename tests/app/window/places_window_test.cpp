// SPDX-License-Identifier: GPL-3.0-or-later
// "Measure only" of the probes dialog.
#include "core/run/complete.h"
#include "core/run/probes_preset.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/probe_costs_dialog.h"
#include "window_bench.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <cmath>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

ProbeCostsDialog* openDialog(const WindowBench& b) {
    b.window->activateWindow();
    if (!QTest::qWaitForWindowActive(b.window.get())) return nullptr;
    QTest::keyClick(b.window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* dialog = b.find<ProbeCostsDialog>("probeCosts");
    return dialog && QTest::qWaitForWindowActive(dialog) ? dialog : nullptr;
}

template <class Widget>
Widget* part(QDialog* dialog, const char* name) {
    return dialog->findChild<Widget*>(QLatin1String(name));
}

QPushButton* ok(QDialog* dialog) {
    return dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
}

/// Replaces the text by keyboard.
void type(QLineEdit* field, const char* text) {
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(field, Qt::Key_Delete);
    QTest::keyClicks(field, text);
}

}  // namespace

class PlacesWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void placesAreTypedCheckedAppliedAndUndone() {
        WindowBench b;
        b.makeSmall(60);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 60000);
        ProbeCostsDialog* dialog = openDialog(b);
        QVERIFY(dialog);
        auto* field = part<QLineEdit>(dialog, "probesOnly");
        auto* line = part<QLabel>(dialog, "probesOnlyProblem");
        auto* standard = part<QRadioButton>(dialog, "probes_standard");
        QCOMPARE(field->placeholderText(), QString("blocks.0, blocks.11.*"));
        QCOMPARE(field->accessibleName(), QString("Measure only"));
        QVERIFY(field->text().isEmpty() && standard->isChecked());
        for (int i = 0; i < 8 && dialog->focusWidget() != field; ++i)
            QTest::keyClick(dialog->focusWidget() ? dialog->focusWidget() : dialog, Qt::Key_Tab);
        QCOMPARE(dialog->focusWidget(), static_cast<QWidget*>(field));

        // What is wrong is named while it is typed, and nothing can be applied then.
        const QString before = standard->text();
        type(field, "blocks.3");
        QVERIFY2(line->text().startsWith("Measure only: \"blocks.3\" selects no place of this stack"),
                 qPrintable(line->text()));
        QCOMPARE(field->accessibleDescription(), line->text());
        QVERIFY(!ok(dialog)->isEnabled());
        QCOMPARE(standard->text(), before);
        b.keepScreenshot("measure-only-wrong", dialog);
        QTest::keyClick(field, Qt::Key_Backspace);
        QTest::keyClicks(field, "0, blocks.2.attn");
        QVERIFY(ok(dialog)->isEnabled());
        QVERIFY(!line->text().contains("no place"));

        // The predictions follow.
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        recipe.stack.vocab = b.run(0).recipe.get()->stack.vocab;
        complete_without_data(recipe);
        recipe.probes = probes_with(recipe, ProbesPreset::Standard,
                                    PlaceSelection::parse("blocks.0, blocks.2.attn", "only"));
        complete_and_validate(recipe);
        const ProbesShare share = predicted_share(recipe);
        QVERIFY2(standard->text().contains(percentText(share.first)), qPrintable(standard->text()));
        QVERIFY(standard->text() != before);
        b.keepScreenshot("measure-only", dialog);
        QTest::keyClick(field, Qt::Key_Return);
        for (const LabRun& run : b.lab().comparison().runs)
            QCOMPARE(common_selection(run.recipe.probes).value(), std::string("blocks.0, blocks.2.attn"));

        // Measured again at step 0: gaps, and the places in the panel.
        const auto partial = [&] {
            const auto found = b.run(0).probes.find("gradients");
            return b.lab().view().exact() && found != b.run(0).probes.end() &&
                   !found->second.front().only().empty();
        };
        QTRY_VERIFY_WITH_TIMEOUT(partial(), 60000);
        const auto& hidden = b.run(0).probes.at("gradients").front().find("hidden")->data;
        QVERIFY(std::isnan(hidden[0]) && std::isfinite(hidden[1]) && std::isnan(hidden[3]));
        QTRY_VERIFY(b.lab().view().figure("gradients", {}).subtitle.contains("only blocks.0, blocks.2.attn"));
        QVERIFY(!b.lab().view().figure("growth", {}).subtitle.contains("only"));
        b.keepScreenshot("measure-only-panels");

        b.lab().runs().undoStack()->undo();
        for (const LabRun& run : b.lab().comparison().runs)
            QCOMPARE(common_selection(run.recipe.probes).value(), std::string());
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact() && b.run(0).probes.count("gradients") && !partial(),
                                 60000);
        b.lab().runs().undoStack()->redo();

        // Trained: the samples are of these places, and the dialog has them.
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.run(0).probes.at("gradients").back().only(), std::string("blocks.0, blocks.2.attn"));
        QTRY_VERIFY(!b.find<ProbeCostsDialog>("probeCosts"));
        dialog = openDialog(b);
        QVERIFY(dialog);
        QCOMPARE(part<QLineEdit>(dialog, "probesOnly")->text(), QString("blocks.0, blocks.2.attn"));
        QVERIFY(part<QRadioButton>(dialog, "probes_standard")->isChecked());
        dialog->reject();
    }

    /// A preset keeps the places; clearing the field removes them.
    void aPresetKeepsThePlaces() {
        WindowBench b;
        b.makeSmall(60);
        b.lab().knobs().setProbes(std::nullopt, PlaceSelection::parse("blocks.1", "only"));
        ProbeCostsDialog* dialog = openDialog(b);
        QVERIFY(dialog);
        part<QRadioButton>(dialog, "probes_economy")->setChecked(true);
        QTest::keyClick(ok(dialog), Qt::Key_Space);
        const auto& probes = b.lab().comparison().selectedRun().recipe.probes;
        QCOMPARE(probes.size(), std::size_t{5});
        QCOMPARE(common_selection(probes).value(), std::string("blocks.1"));
        QTRY_VERIFY(!b.find<ProbeCostsDialog>("probeCosts"));
        dialog = openDialog(b);
        QVERIFY(dialog);
        auto* field = part<QLineEdit>(dialog, "probesOnly");
        type(field, "");
        QTest::keyClick(ok(dialog), Qt::Key_Space);
        QCOMPARE(common_selection(b.lab().comparison().selectedRun().recipe.probes).value(), std::string());
        QCOMPARE(b.lab().comparison().selectedRun().recipe.probes.size(), std::size_t{5});
    }
};

NORMSCOPE_WIDGET_TEST(PlacesWindowTest)
#include "places_window_test.moc"
