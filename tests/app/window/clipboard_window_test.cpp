// SPDX-License-Identifier: GPL-3.0-or-later
// The experiment and its figures on the clipboard, and back.
#include "app/window/files/figure_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "window_bench.h"

#include <QClipboard>
#include <QMimeData>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class ClipboardWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void aRecipeOfEverythingIsCopiedAndPasted() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().setLinked(false);
        for (const auto& [key, value] :
             std::vector<std::pair<const char*, FieldValue>>{{"stack.scheme", "mix"},
                                                             {"stack.block", "llama"},
                                                             {"stack.qk_norm", "head"},
                                                             {"stack.gpas.enabled", true},
                                                             {"stack.branch_scale", "scalar"},
                                                             {"stack.init.rule", "plain"}})
            b.lab().knobs().commitKey(key, value);
        b.lab().knobs().setNorm(1, Sublayer::FeedForward, widgets::NormPlace::Out, true, false);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.window->figures()->copyExperiment();
        const std::string copied = recipe_json(b.lab().comparison().runs[0].recipe);
        b.lab().runs().select(1);
        const std::string before = recipe_json(b.lab().comparison().runs[1].recipe);
        QTest::keyClick(b.window.get(), Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
        // A pasted recipe is completed: "all" probes are replaced by their names.
        Recipe pasted = b.lab().comparison().runs[1].recipe;
        pasted.probes = b.lab().comparison().runs[0].recipe.probes;
        QCOMPARE(recipe_json(pasted), copied);
        b.keepScreenshot("everything");
        b.lab().runs().undoStack()->undo();
        QCOMPARE(recipe_json(b.lab().comparison().runs[1].recipe), before);
    }

    void whatCannotBePastedIsReportedInOneLine() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const std::string before = recipe_json(b.lab().comparison().runs[0].recipe);
        for (const auto& [text, message] : std::vector<std::pair<const char*, const char*>>{
                 {"not a recipe", "clipboard: not valid JSON"},
                 {"{}", "clipboard: not a recipe"},
                 {R"({"format": "normscope-recipe", "version": 1, "stack": {"colour": 1}})", "stack.colour"},
                 {R"({"format": "normscope-recipe", "version": 1, "stack": {"heads": 5}})", "stack.heads"}}) {
            QGuiApplication::clipboard()->setText(QLatin1String(text));
            b.window->figures()->pasteExperiment();
            QVERIFY2(b.window->views().banner->message().contains(QLatin1String(message)),
                     qPrintable(b.window->views().banner->message()));
            QVERIFY(!b.window->views().banner->message().contains(QLatin1Char('\n')));
        }
        QCOMPARE(recipe_json(b.lab().comparison().runs[0].recipe), before);
        QCOMPARE(b.lab().runs().undoStack()->count(), 0);
    }

    void experimentAndFigureGoToTheClipboard() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.window->figures()->copyExperiment();
        const Recipe copied = parse_recipe(QGuiApplication::clipboard()->text().toStdString(), "clipboard");
        QCOMPARE(copied.stack.scheme, Scheme::Pre);
        b.window->figures()->copyCurrent();
        QVERIFY(QGuiApplication::clipboard()->mimeData()->data("image/svg+xml").contains("<svg"));
    }
};

NORMSCOPE_WIDGET_TEST(ClipboardWindowTest)
#include "clipboard_window_test.moc"
