// SPDX-License-Identifier: GPL-3.0-or-later
// For every invalid input: the right exit code and exactly one line on stderr that names it.
#include "core/session/named_arrays.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <sys/resource.h>

#include <QTemporaryDir>
#include <QtTest>
#include <csignal>

using namespace normscope;

class BadInputTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }
    void write(const QString& name, const QByteArray& bytes) const {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), bytes.size());
    }
    QByteArray contents(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

  private Q_SLOTS:
    void initTestCase() {
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");  // whether or not there is a card
        QVERIFY(folder_.isValid());
        write("text.txt", "nothing to train on\n");
        write("bad.json", "{\"format\": ");
        write("empty.json", "");
        write("png.h5", QByteArray::fromHex("89504e470d0a1a0a0000000d49484452"));
        write("recipe.json",
              R"({"format": "normscope-recipe", "version": 1, "stack": {"depth": 1, "d_model": 4, "heads": 2,
            "context": 3, "vocab": 5, "d_ff": 4, "bias": false}})");
        const std::vector<double> p{0.5, 0.5, 0.9, 0.9};
        write_named_arrays(path("p.h5").toStdString(), {stored("/p", {2, 2}, p.data())});
        const std::vector<double> good{0.5, 0.5, 0.25, 0.75};
        write_named_arrays(path("good_p.h5").toStdString(), {stored("/p", {2, 2}, good.data())});
        const std::vector<std::int32_t> tokens{0, 1, 5}, targets{1, 2, 3};
        write_named_arrays(path("tokens.h5").toStdString(), {stored("/tokens", {1, 3}, tokens.data()),
                                                             stored("/targets", {1, 3}, targets.data())});
        const std::vector<double> weights(20);
        write_named_arrays(path("weights.h5").toStdString(),
                           {stored("/params/tok_emb", {4, 5}, weights.data())});
        const CliResult run =
            run_cli(QStringList{"train", "pre-ln", "--out", path("run.h5"), "--steps", "3"} + small_stack());
        QVERIFY2(run.code == 0, qPrintable(run.error));
        const QByteArray whole = contents("run.h5");
        write("half.h5", whole.left(whole.size() / 2));
        write("head.h5", whole.left(100));
        QByteArray damaged = whole;
        for (qsizetype i = damaged.size() / 3; i < damaged.size() / 3 + 2000; ++i) damaged[i] = char(0xa5);
        write("damaged.h5", damaged);
        QVERIFY(QDir(folder_.path()).mkdir("a_folder"));
        const QDir crashing(QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/session/crashing"));
        for (const char* name : {"free-list.h5", "group-tree.h5", "event-list.h5"})
            QVERIFY(QFile::copy(crashing.filePath(name), path(name)));
    }

    void oneLine_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const char* arguments, int code, const char* message) {
            QTest::newRow(name) << arguments << code << message;
        };
        row("no command", "", 2, "subcommand is required");
        row("unknown command", "trian pre-ln", 2, "trian: no such command, allowed: devices, presets, train");
        row("unknown option", "train pre-ln --out %new.h5 --fast", 2, "--fast");
        row("no out", "train pre-ln", 2, "--out is required");
        row("steps as word", "train pre-ln --out %new.h5 --steps many", 2, "--steps");
        row("negative steps", "train pre-ln --out %new.h5 --steps -1", 2, "--steps");
        row("threads", "train pre-ln --out %new.h5 --threads -2", 2, "--threads");
        row("backend", "train pre-ln --out %new.h5 --backend tpu", 2, "--backend");
        row("no cuda", "train pre-ln --out %new.h5 --backend cuda", 2,
            "--backend: cuda is not available: NORMSCOPE_CUDA_PLUGIN is empty, allowed: auto, cpu");
        row("unknown preset", "presets pre", 2,
            "presets: \"pre\" is not known, allowed: pre-ln-copy, post-ln-copy, pre-ln, post-ln");
        row("no recipe", "train nonsense --out %new.h5", 2, "nonsense: no such preset, and no readable file");
        row("not json", "train %bad.json --out %new.h5", 2, "bad.json: not valid JSON at byte");
        row("empty json", "validate %empty.json", 2, "empty.json: not valid JSON at byte");
        row("unknown key", "train pre-ln --out %new.h5 --set stack.dpeth=2", 2,
            "stack.dpeth: unknown key, allowed: block, depth");
        row("out of range", "train pre-ln --out %new.h5 --set stack.depth=0", 2,
            "stack.depth: 0 is out of range, allowed: 1 … ");
        row("no value", "train pre-ln --out %new.h5 --set stack.depth", 2,
            "stack.depth: has no value, allowed: key.path=value");
        row("missing corpus", "train pre-ln --out %new.h5 --set data.source=text --set data.path=%none.txt",
            2, "none.txt: no such file");
        row("short corpus", "train pre-ln --out %new.h5 --set data.source=text --set data.path=%text.txt", 2,
            "text.txt: too short");
        row("folder as corpus", "train pre-ln --out %new.h5 --set data.source=text --set data.path=%a_folder",
            2, "a_folder");
        row("target is a text", "train pre-ln --out %text.txt", 2,
            "text.txt: holds something else and is not overwritten");
        row("target is foreign HDF5", "train pre-ln --out %p.h5", 2, "p.h5: ");
        row("target is a folder", "train pre-ln --out %a_folder", 2, "a_folder: is no regular file");
        row("no target folder", "train pre-ln --out %none/run.h5", 1, "none/run.h5: cannot be written");
        row("target is the recipe", "train %recipe.json --out %recipe.json", 2,
            "recipe.json: is also an input");
        row("resume other recipe", "train pre-ln --out %run.h5 --resume", 2,
            "run.h5: stack.depth: 12 differs from the recorded 2");
        row("info: no file", "info %none.h5", 2, "none.h5: ");
        row("info: text", "info %text.txt", 2, "text.txt: ");
        row("info: png", "info %png.h5", 2, "png.h5: ");
        row("info: half", "info %half.h5", 2, "half.h5: ");
        row("info: head", "info %head.h5", 2, "head.h5: ");
        row("info: folder", "info %a_folder", 2, "a_folder: ");
        const char* crash = "damaged so that it makes the HDF5 library crash";
        row("info: crash", "info %free-list.h5", 2, crash);
        row("validate: crash", "validate %event-list.h5", 2, crash);
        row("export: crash", "export %group-tree.h5 --out %new.safetensors", 2, crash);
        row("gather: crash", "gather %group-tree.h5 --out %new.h5", 2, crash);
        row("probe: crash", "probe %event-list.h5 --out %new.h5", 2, crash);
        row("weights: crash", "train pre-ln --weights %free-list.h5 --out %new.h5", 2, crash);
        row("resume: crash", "train pre-ln --out %group-tree.h5 --resume", 2, crash);
        row("target: crash", "train pre-ln --out %group-tree.h5", 2, crash);
        row("validate: half", "validate %half.h5", 2, "half.h5: ");
        row("validate: no file", "validate %none.json", 2, "none.json: ");
        row("probe: unknown", "probe pre-ln --probes growth,shrink --out %new.h5", 2,
            "--probes: \"shrink\" is not known, allowed: growth");
        row("probe: no such step", "probe %run.h5@99 --out %new.h5", 2,
            "run.h5: has no step 99, allowed: @ and a step up to 3");
        row("probe: weights twice", "probe %run.h5 --weights %weights.h5 --out %new.h5", 2,
            "--weights: are given, but a run has its own");
        row("probe: half", "probe %half.h5 --out %new.h5", 2, "half.h5: ");
        row("evaluate: dtype",
            "evaluate %recipe.json --weights %weights.h5 --tokens %tokens.h5 --out %new.h5 --dtype float16",
            2, "--dtype");
        row("evaluate: shape",
            "evaluate %recipe.json --weights %weights.h5 --tokens %tokens.h5 --out %new.h5", 2,
            "weights.h5: /params: tok_emb: has the shape [4, 5], allowed: [5, 4]");
        row("evaluate: no params",
            "evaluate %recipe.json --weights %tokens.h5 --tokens %tokens.h5 --out %new.h5", 2, "tokens.h5: ");
        row("evaluate: out is an input",
            "evaluate %recipe.json --weights %weights.h5 --tokens %tokens.h5 --out %weights.h5", 2,
            "weights.h5: is also an input");
        row("theta: row", "theta %p.h5 --out %new.h5", 2, "p.h5: /p: row 1: ");
        row("theta: no /p", "theta %tokens.h5 --out %new.h5", 2, "tokens.h5: ");
        row("theta: no folder", "theta %good_p.h5 --out %none/t.h5", 1, "none/t.h5: cannot be written");
    }
    void oneLine() {
        QFETCH(QString, arguments);
        QFETCH(int, code);
        QFETCH(QString, message);
        arguments.replace('%', folder_.path() + '/');
        const CliResult result = run_cli(arguments.split(' ', Qt::SkipEmptyParts));
        QVERIFY2(result.code == code, qPrintable(QString::number(result.code) + ": " + result.error));
        QVERIFY2(result.error_lines().size() == 1, qPrintable(result.error));
        QVERIFY2(result.error.contains(message), qPrintable(result.error));
        QVERIFY2(!QFile::exists(path("new.h5")), "a rejected command left a file");
    }

    void rejectionsLeaveFilesAlone() {
        QCOMPARE(contents("text.txt"), QByteArray("nothing to train on\n"));
        QVERIFY(contents("recipe.json").startsWith("{\"format\""));
        QCOMPARE(run_cli({"info", path("run.h5")}).code, 0);
    }

    void damageInTheMiddleNeverCrashes() {
        for (const QStringList& arguments :
             {QStringList{"info", path("damaged.h5")}, QStringList{"validate", path("damaged.h5")},
              QStringList{"probe", path("damaged.h5"), "--out", path("new.h5")}}) {
            const CliResult result = run_cli(arguments);
            QVERIFY2(result.code == 0 || result.code == 2, qPrintable(arguments[0] + ": " + result.error));
            QCOMPARE(result.error.isEmpty(), result.code == 0);
        }
    }

    /// A limit on file sizes simulates a full disk: one line, exit code 1, and the recording is readable.
    void fullDisk() {
        const QString out = path("full.h5");
        const CliResult result =
            run_cli(QStringList{"train", "pre-ln", "--out", out, "--steps", "100000", "--set",
                                "checkpoint.every=100000000", "--set",
                                R"(probes=[{"id":"growth","every":1},{"id":"jacobian","every":1}])"} +
                        small_stack(),
                    [] {
                        const rlimit limit{600'000, 600'000};
                        setrlimit(RLIMIT_FSIZE, &limit);
                        std::signal(SIGXFSZ, SIG_IGN);
                    });
        QVERIFY2(result.code == 1,
                 qPrintable(QString::number(result.code) + result.error + result.out.right(300)));
        QVERIFY2(result.error_lines().size() == 1, qPrintable(result.error));
        QVERIFY2(result.error.contains("full.h5"), qPrintable(result.error));
        const CliResult info = run_cli({"info", out});
        QVERIFY2(info.code == 0, qPrintable(info.error));
        QVERIFY2(info.out.contains("interrupted") || info.out.contains("failed"), qPrintable(info.out));
        QVERIFY2(info.out.contains("  steps ") && !info.out.contains("  steps 0"), qPrintable(info.out));
    }
};

NORMSCOPE_TEST(BadInputTest)
#include "bad_input_test.moc"
