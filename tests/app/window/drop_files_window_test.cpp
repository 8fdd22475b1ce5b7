// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a file manager, dropped on the window.
#include "core/interchange/model_file.h"
#include "core/run/experiment.h"
#include "core/session/session.h"
#include "tests/support/test_main.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/runs/run_strip.h"
#include "window_bench.h"

#include <QClipboard>
#include <QDragEnterEvent>
#include <QLabel>
#include <QMimeData>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

/// Drags files over a part of the window and drops them there; returns what the window promised.
QString drop(WindowBench& b, const QStringList& paths, QWidget* onto) {
    QMimeData content;
    QList<QUrl> urls;
    for (const QString& path : paths) urls << QUrl::fromLocalFile(path);
    content.setUrls(urls);
    const QPoint at = onto->mapTo(b.window.get(), onto->rect().center());
    QDragEnterEvent enter(at, Qt::CopyAction, &content, Qt::LeftButton, {});
    QCoreApplication::sendEvent(b.window.get(), &enter);
    if (!enter.isAccepted()) return {};
    QDragMoveEvent move(at, Qt::CopyAction, &content, Qt::LeftButton, {});
    QCoreApplication::sendEvent(b.window.get(), &move);
    auto* target = b.find<QLabel>("dropTarget");
    const QString promise = target->isVisible() ? target->text() : QString();
    b.keepScreenshot("drop");
    QDropEvent dropped(at, Qt::CopyAction, &content, Qt::LeftButton, {});
    QCoreApplication::sendEvent(b.window.get(), &dropped);
    if (target->isVisible()) return QStringLiteral("the target is left");
    return promise;
}

QString write(const QString& path, const QByteArray& text) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        throw std::runtime_error("cannot write");
    return path;
}

}  // namespace

class DropFilesWindowTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

  private Q_SLOTS:
    void aSessionOpensOrItsRunIsAdded() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().runs().remove(1);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const QString path = folder_.filePath("one.h5");
        save_session(path.toStdString(), {b.run(0)}, "");
        QVERIFY(drop(b, {path}, b.find<widgets::RunStrip>("runStrip")).contains("add the run"));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(2), 20000);
        QCOMPARE(b.run(1).steps.rows(), std::size_t(6));
        QVERIFY(b.lab().session().path().isEmpty());
        // Onto the panels: it replaces the comparison, which is asked about.
        QVERIFY(drop(b, {path}, b.window->views().grid).contains("open the session"));
        QTRY_VERIFY(b.window->findChild<QDialog*>("leaving"));
        b.window->findChild<QDialog*>("leaving")->reject();
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
    }

    void aRecipeAModelAndATextAreTaken() {
        WindowBench b;
        b.makeSmall(6);
        Recipe recipe = b.lab().comparison().runs[0].recipe;
        complete_and_validate(recipe);
        QWidget* grid = b.window->views().grid;
        const QString json =
            write(folder_.filePath("recipe.json"), QByteArray::fromStdString(recipe_json(recipe)));
        QVERIFY(drop(b, {json}, grid).contains("this recipe"));
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(3));
        QVERIFY(same_recipe(b.lab().comparison().runs[2].recipe, recipe));

        const QString model = folder_.filePath("model.safetensors");
        export_model(model.toStdString(), recipe, Experiment(recipe, "s", "s").checkpoint().params);
        QVERIFY(drop(b, {model}, grid).contains("import the model"));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(4), 20000);
        QVERIFY(b.lab().comparison().runs[3].weights);

        const QString text =
            write(folder_.filePath("words.txt"), QByteArray("all that is gold ").repeated(400));
        b.lab().runs().select(0);
        QVERIFY(drop(b, {text}, grid).contains("this text"));
        QCOMPARE(b.lab().comparison().runs[0].recipe.train.data.path, text.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QVERIFY(b.lab().comparison().runs[0].rejection.empty());
        b.lab().runs().undoStack()->undo();
        QVERIFY(b.lab().comparison().runs[0].recipe.train.data.path.empty());
    }

    void whatItCannotTakeIsALine() {
        WindowBench b;
        b.makeSmall(6);
        QWidget* grid = b.window->views().grid;
        const std::size_t runs = b.lab().comparison().runs.size();
        QStringList problems;
        connect(&b.lab(), &Lab::problem, &b.lab(), [&](const QString& line) { problems << line; });
        drop(b, {write(folder_.filePath("figure.png"), "PNG")}, grid);
        QCOMPARE(problems.size(), 1);
        QVERIFY2(problems[0].startsWith("figure.png: is not known. Files: sessions"),
                 qPrintable(problems[0]));
        drop(b,
             {write(folder_.filePath("bad.json"),
                    R"({"format": "normscope-recipe", "version": 1, "stack": {"depth": -3}})")},
             grid);
        QCOMPARE(problems.size(), 2);
        QVERIFY2(problems[1].contains("depth"), qPrintable(problems[1]));
        drop(b, {folder_.filePath("gone1.h5"), folder_.filePath("gone2.h5")}, grid);
        QTRY_COMPARE_WITH_TIMEOUT(problems.size(), 4, 20000);
        QCOMPARE(b.lab().comparison().runs.size(), runs);
        // Nothing of a file: text that is dragged is not for the window.
        QMimeData content;
        content.setText("words");
        QDragEnterEvent enter(QPoint(700, 400), Qt::CopyAction, &content, Qt::LeftButton, {});
        enter.ignore();
        QCoreApplication::sendEvent(b.window.get(), &enter);
        QVERIFY(!enter.isAccepted());
    }

    void aCopiedRecipeIsPastedAsARun() {
        WindowBench b;
        b.makeSmall(6);
        QTest::keyClick(b.window.get(), Qt::Key_J, Qt::ControlModifier | Qt::ShiftModifier);
        QTest::keyClick(b.window.get(), Qt::Key_V, Qt::ControlModifier | Qt::AltModifier);
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(3));
        QVERIFY(same_recipe(b.lab().comparison().runs[2].recipe, b.lab().comparison().runs[0].recipe));
        QApplication::clipboard()->setText("no recipe");
        QTest::keyClick(b.window.get(), Qt::Key_V, Qt::ControlModifier | Qt::AltModifier);
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(3));
    }
};

NORMSCOPE_WIDGET_TEST(DropFilesWindowTest)
#include "drop_files_window_test.moc"
