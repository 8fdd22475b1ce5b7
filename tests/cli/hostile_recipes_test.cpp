// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes, sweeps and recorded recipes of other people: whatever they hold, each command that reads one
// rejects it with exit code 2 and one line.
#include "tests/cli/cli_process.h"
#include "tests/session/replace_recipe.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

namespace {

constexpr int kNested = 200'000;

QByteArray recipe(const QByteArray& keys) {
    return R"({"format": "normscope-recipe", "version": 1, )" + keys + "}";
}

QByteArray nested(char open, char close) {
    return QByteArray(kNested, open) + QByteArray(kNested, close);
}

}  // namespace

class HostileRecipesTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }
    void write(const QString& name, const QByteArray& bytes) const {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), bytes.size());
    }

    void addRecipes(bool with_nul) {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("message");
        const auto row = [&](const char* name, const QByteArray& text, const char* message) {
            if (with_nul || !text.contains('\0')) QTest::newRow(name) << text << message;
        };
        row("brackets", nested('[', ']'), ": is nested deeper than 32 levels, allowed: at most 32");
        row("brackets in a key", recipe("\"stack\": " + nested('[', ']')), "stack[0][0][0]");
        row("brackets as format", "{\"format\": " + nested('[', ']') + "}", "format[0][0][0]");
        row("never closed", QByteArray(kNested, '['), "is nested deeper");
        row("overflow", recipe(R"("optimizer": {"lr": 1e999})"),
            "recipe.json: optimizer.lr: the number 1e999 is out of range, allowed: magnitudes up to 1.8e308");
        row("key twice", recipe(R"("stack": {"depth": 2, "depth": 3})"),
            "recipe.json: stack: \"depth\" appears twice, allowed: each key once");
        row("group twice", recipe(R"("steps": 1, "stack": {"depth": 2}, "stack": {"depth": 3})"),
            "recipe.json: \"stack\" appears twice");
        row("probe twice",
            recipe(R"("probes": [{"id": "growth"}, {"id": "theta"}, {"id": "growth", "every": 3}])"),
            "probes[2].id: \"growth\" is listed already by probes[0], allowed: each probe once");
        row("after a NUL", recipe("\"steps\": 1") + QByteArray("\0{]", 3), "recipe.json: has a NUL at byte ");
        row("NUL in a text", recipe(R"("data": {"path": "a\u0000b"})"),
            "recipe.json: data.path: has a NUL in its text");
        row("trailing", recipe("\"steps\": 1") + "]", "recipe.json: not valid JSON at byte ");
        row("no UTF-8", recipe("\"data\": {\"path\": \"\xff\"}"), "recipe.json: is not valid UTF-8 at byte ");
        row("a key of two lines", recipe(R"("a\nb": 1)"), "control characters");
    }

  private Q_SLOTS:
    void initTestCase() {
        const CliResult run =
            run_cli(QStringList{"train", "pre-ln", "--out", path("run.h5"), "--steps", "2"} + small_stack());
        QVERIFY2(run.code == 0, qPrintable(run.error));
    }

    void recipes_data() { addRecipes(true); }
    void recipes() {
        QFETCH(QByteArray, text);
        QFETCH(QString, message);
        write("recipe.json", text);
        const QStringList commands[] = {
            {"train", path("recipe.json"), "--out", path("new.h5"), "--steps", "1"},
            {"sweep", path("recipe.json"), "--grid", "stack.depth=1,2", "--out", path("new")},
            {"validate", path("recipe.json")},
            {"probe", path("recipe.json"), "--out", path("new.h5")},
            {"check", path("recipe.json")}};
        for (const QStringList& command : commands) isRejected(command, message);
    }

    void settings_data() {
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const QString& setting, const char* message) {
            QTest::newRow(name) << setting << message;
        };
        row("brackets", "stack.depth=" + QString(60'000, '[') + QString(60'000, ']'),
            "--set stack.depth: [0][0]");
        row("a long path", QString("a.").repeated(50'000) + "a=1", "is nested deeper than 32 levels");
        row("overflow", "optimizer.lr=1e999", "--set optimizer.lr: the number 1e999 is out of range");
        row("key twice", R"(stack={"depth":1,"depth":2})", "--set stack: \"depth\" appears twice");
        row("probe twice", R"(probes=[{"id":"growth"},{"id":"growth"}])",
            "probes[1].id: \"growth\" is listed");
        row("two lines", "a\nb=1", "the key \"a\\nb\" has control characters");
    }
    void settings() {
        QFETCH(QString, setting);
        QFETCH(QString, message);
        isRejected({"train", "pre-ln", "--set", setting, "--out", path("new.h5"), "--steps", "1"}, message);
        isRejected({"sweep", "pre-ln", "--set", setting, "--grid", "stack.depth=1,2", "--out", path("new")},
                   message);
    }

    void grids() {
        isRejected({"sweep", "pre-ln", "--grid", "stack.depth=" + QString(60'000, '[') + QString(60'000, ']'),
                    "--out", path("new")},
                   "--grid stack.depth: [0][0]");
        isRejected({"sweep", "pre-ln", "--grid", "optimizer.lr=1e999", "--out", path("new")},
                   "--grid optimizer.lr: the number 1e999 is out of range");
    }

    void sweepFolders_data() { recipes_data(); }
    void sweepFolders() {
        QFETCH(QByteArray, text);
        QVERIFY(QDir().mkpath(path("sweep")));
        write("sweep/sweep.json", text);
        isRejected({"sweep", "pre-ln", "--grid", "stack.depth=1,2", "--out", path("sweep")}, "sweep.json: ");
    }

    // A text attribute ends at its first NUL: what follows is no part of the recipe.
    void recordedRecipes_data() { addRecipes(false); }
    void recordedRecipes() {
        QFETCH(QByteArray, text);
        QFile::remove(path("hostile.h5"));
        QVERIFY(QFile::copy(path("run.h5"), path("hostile.h5")));
        test::replace_recipe(path("hostile.h5").toStdString(), text.toStdString());
        const QStringList commands[] = {{"validate", path("hostile.h5")},
                                        {"check", path("hostile.h5")},
                                        {"probe", path("hostile.h5"), "--out", path("new.h5")},
                                        {"export", path("hostile.h5"), "--out", path("new.safetensors")}};
        const QString why = text.contains("probes") ? "is listed already" : "its text: ";
        for (const QStringList& command : commands) isRejected(command, why);
        // The rest of such a recording is shown.
        for (const QStringList& command : {QStringList{"info", path("hostile.h5")},
                                           QStringList{"info", path("hostile.h5"), "--findings"}}) {
            const CliResult result = run_cli(command);
            QVERIFY2(result.code == 0 || result.code == 2, qPrintable(result.error.left(300)));
            QVERIFY2(result.error_lines().size() == (result.code == 0 ? 0 : 1),
                     qPrintable(result.error.left(300)));
        }
    }

  private:
    void isRejected(const QStringList& command, const QString& message) const {
        const CliResult result = run_cli(command);
        const QString about =
            command[0] + ": " + QString::number(result.code) + ": " + result.error.left(300);
        QVERIFY2(result.code == 2, qPrintable(about));
        QVERIFY2(result.error_lines().size() == 1, qPrintable(about));
        QVERIFY2(result.error.contains(message), qPrintable(about));
        QVERIFY2(result.error.size() < 1000, qPrintable(about));
        for (const char* left : {"new.h5", "new", "new.safetensors"})
            QVERIFY2(!QFileInfo::exists(path(left)), qPrintable(about + " left a file"));
    }
};

NORMSCOPE_TEST(HostileRecipesTest)
#include "hostile_recipes_test.moc"
