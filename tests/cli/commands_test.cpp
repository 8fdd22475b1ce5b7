// SPDX-License-Identifier: GPL-3.0-or-later
// Output and files of the commands for valid input.
#include "core/recipe/presets.h"
#include "core/run/evaluation.h"
#include "core/run/experiment.h"
#include "core/session/hdf5.h"
#include "core/session/named_arrays.h"
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

using namespace normscope;

class CommandsTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }

    static CliResult succeed(const QStringList& arguments) {
        CliResult result = run_cli(arguments);
        QStringList errors = result.error_lines();
        errors.removeIf([](const QString& line) { return line.startsWith("warning: "); });
        if (result.code != 0 || !errors.isEmpty())
            QTest::qFail(qPrintable(arguments.join(' ') + ": " + result.error), __FILE__, __LINE__);
        return result;
    }

  private Q_SLOTS:
    void devices() { QVERIFY(succeed({"devices"}).out.startsWith("cpu ")); }

    void version() { QCOMPARE(succeed({"--version"}).out.trimmed().count('.'), 2); }

    void helpGoesToStdout() {
        QVERIFY(succeed({"--help"}).out.contains("evaluate"));
        QVERIFY(succeed({"train", "--help"}).out.contains("--resume"));
    }

    void gatherKeepsRunsApart() {
        succeed({"train", "pre-ln", "--steps", "2", "--set", "stack.depth=1", "--out", path("one.h5")});
        succeed({"gather", path("one.h5"), path("one.h5"), "--out", path("both.h5")});
        const Session both = open_session(path("both.h5").toStdString());
        QCOMPARE(both.runs.size(), std::size_t{2});
        QCOMPARE(both.runs[0].name, std::string("Pre-LN"));
        QCOMPARE(both.runs[1].name, std::string("Pre-LN (2)"));
        QVERIFY(both.runs[0].id != both.runs[1].id);
        QCOMPARE(both.runs[0].steps.rows(), both.runs[1].steps.rows());
        QCOMPARE(both.checkpoints.size(), std::size_t{2});
        const CliResult over = run_cli({"train", "pre-ln", "--steps", "1", "--out", path("both.h5")});
        QCOMPARE(over.code, 2);
        QVERIFY2(over.error.contains("both.h5: is a session of 2 runs and is not overwritten"),
                 qPrintable(over.error));
        QCOMPARE(open_session(path("both.h5").toStdString()).runs.size(), std::size_t{2});
    }

    void presetsPrintRecipes() {
        const QString list = succeed({"presets"}).out;
        for (const Preset& preset : presets()) {
            QVERIFY(list.contains(preset.name));
            QFile file(path("preset.json"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(succeed({"presets", preset.name}).out.toUtf8());
            file.close();
            QVERIFY(succeed({"validate", path("preset.json")}).out.contains("sound"));
            QCOMPARE(recipe_json(load_recipe(path("preset.json").toStdString())),
                     recipe_json(load_recipe(preset.name)));
        }
    }

    void trainInfoValidateProbe() {
        const QString run = path("run.h5");
        const CliResult train =
            succeed(QStringList{"train", "pre-ln", "--out", run, "--steps", "8", "--json"} + small_stack());
        int steps = 0, probes = 0;
        QString first, last;
        for (const QString& line : train.out.split('\n', Qt::SkipEmptyParts)) {
            const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
            QVERIFY2(!object.isEmpty(), qPrintable(line));
            last = object["event"].toString();
            if (first.isEmpty()) first = last;
            if (last == "step") {
                QCOMPARE(object["step"].toInt(), steps++);
                QVERIFY(object["loss"].toDouble() > 0);
            }
            probes += last == "probe";
            if (last == "end") QCOMPARE(object["state"].toString(), QString("finished"));
        }
        QCOMPARE(first, QString("begin"));
        QCOMPARE(last, QString("end"));
        QCOMPARE(steps, 8);
        QVERIFY(probes >= 10);  // five at step 0, five at the last step

        const QString info = succeed({"info", run}).out;
        QVERIFY2(info.contains("run a  \"Pre-LN\"  finished"), qPrintable(info));
        QVERIFY2(info.contains("  steps 8, last 7"), qPrintable(info));
        for (const ProbeInfo& probe : probe_registry())
            QCOMPARE(info.contains(QString("probe ") + probe.id), probe.by_default);
        QVERIFY(info.contains("checkpoint of step 8"));
        QVERIFY(succeed({"validate", run}).out.contains("sound"));

        // The checkpoint's weights measured again give what an experiment in its state measures.
        for (const QString& subject : {run, run + "@8"}) {
            succeed({"probe", subject, "--probes", "growth,gradients", "--out", path("probe.h5"), "--dtype",
                     "float32"});
            const auto growth = read_file_array<double>(path("probe.h5").toStdString(), "/probes/growth/rms");
            QCOMPARE(growth.shape, (std::vector<std::size_t>{1, 5}));
            Experiment experiment(open_session(run.toStdString()).runs[0].recipe.value("test"), "a", "run");
            experiment.restore(load_checkpoint(run.toStdString(), "a", 8));
            ThreadPool pool(1);
            QCOMPARE(growth.data, experiment.measure("growth", pool).find("rms")->data);
            QVERIFY(!has_object(path("probe.h5").toStdString(), "/probes/theta"));
        }
    }

    /// Any step of a run can be measured: it is replayed, and gives what a run that samples every step
    /// measures.
    void probeReplaysAStep() {
        const QString run = path("seldom.h5"), each = path("each.h5");
        const QStringList stack = small_stack() + QStringList{"--steps", "9"};
        succeed(QStringList{"train", "post-ln", "--out", run, "--set",
                            R"(probes=[{"id":"growth","every":100}])"} +
                stack);
        succeed(QStringList{"train", "post-ln", "--out", each, "--set",
                            R"(probes=[{"id":"growth","every":1},{"id":"gradients","every":1}])"} +
                stack);
        const RunData wanted = open_session(each.toStdString()).runs.at(0);
        const RunData seldom = open_session(run.toStdString()).runs.at(0);
        QVERIFY(!seldom.sample_of("growth", 5) && wanted.sample_of("growth", 5));
        const CliResult done = succeed({"probe", run + "@5", "--probes", "growth,gradients", "--out",
                                        path("at.h5"), "--dtype", "float32"});
        QVERIFY2(done.out.contains("replayed from step 0 to 5"), qPrintable(done.out));
        const std::string out = path("at.h5").toStdString();
        QCOMPARE(read_file_array<double>(out, "/probes/growth/rms").data,
                 wanted.sample_of("growth", 5)->find("rms")->data);
        QCOMPARE(read_file_array<double>(out, "/probes/gradients/hidden").data,
                 wanted.sample_of("gradients", 5)->find("hidden")->data);
        QCOMPARE(read_file_array<std::int64_t>(out, "/probes/growth/step").data,
                 std::vector<std::int64_t>{5});
    }

    void stepsSetTheSchedule() {
        const QString run = path("schedule.h5");
        succeed(QStringList{"train", "pre-ln", "--out", run, "--steps", "5"} + small_stack());
        const RunData data = open_session(run.toStdString()).runs.at(0);
        const auto& lr = *data.steps.find("lr");
        QVERIFY(std::abs(lr.back() - 0.1 * 3e-3) < 1e-9);  // min_ratio at the last step
    }

    void noStepsStillMeasure() {
        const QString run = path("zero.h5");
        succeed(QStringList{"train", "pre-ln", "--out", run, "--steps", "0"} + small_stack());
        const RunData data = open_session(run.toStdString()).runs.at(0);
        QCOMPARE(data.steps.rows(), std::size_t{0});
        QCOMPARE(data.outcome.state, RunState::Finished);
        QCOMPARE(data.probes.at("growth").size(), std::size_t{1});
    }

    /// A warning is printed once, on stderr, and nothing else changes.
    void warningsArePrintedOnce() {
        const QStringList stack =
            small_stack() + QStringList{"--set", "stack.scheme=lns", "--set", "stack.init.rule=gpt2"};
        for (const QStringList& command : {QStringList{"train", "pre-ln", "--steps", "3"},
                                           QStringList{"probe", "pre-ln", "--probes", "growth"}}) {
            const auto loud = succeed(command + stack + QStringList{"--out", path("warned.h5")});
            QCOMPARE(loud.error_lines().size(), 1);
            QVERIFY2(loud.error.startsWith("warning: scheme lns with init.rule gpt2: "),
                     qPrintable(loud.error));
            const auto quiet = succeed(command + small_stack() + QStringList{"--out", path("quiet.h5")});
            QCOMPARE(quiet.error, QString());
        }
    }

    void probeOfARecipeIsStepZero() {
        succeed(
            {"probe", "post-ln", "--probes", "growth", "--out", path("initial.h5"), "--dtype", "float32"});
        ThreadPool pool(1);
        Experiment experiment(load_recipe("post-ln"), "a", "a");
        QCOMPARE(read_file_array<double>(path("initial.h5").toStdString(), "/probes/growth/rms").data,
                 experiment.measure("growth", pool).find("rms")->data);
    }

    void evaluateWritesTheContract() {
        const std::string reference = std::string(NORMSCOPE_SOURCE_DIR) + "/tests/reference/pre.h5";
        const std::string name = "layernorm_dt0.1_tau1_d9_n5";
        QFile recipe(path("r.json"));
        QVERIFY(recipe.open(QIODevice::WriteOnly));
        recipe.write(QByteArray::fromStdString([&] {
            const auto opened = hdf5::open_for_reading(reference);
            return hdf5::read_text_attribute(hdf5::open_group(opened.file, name), "recipe");
        }()));
        recipe.close();
        auto weights = read_named_arrays(reference, "/" + name + "/params");
        for (StoredTensor& tensor : weights) tensor.name = "/params/" + tensor.name;
        write_named_arrays(path("w.h5").toStdString(), weights);
        std::vector<StoredTensor> tokens;
        for (const char* which : {"tokens", "targets"}) {
            const auto array = read_file_array<std::int32_t>(reference, "/" + name + "/" + which);
            tokens.push_back(stored(std::string("/") + which, array.shape, array.data.data()));
        }
        write_named_arrays(path("t.h5").toStdString(), tokens);
        const QStringList files{path("r.json"), "--weights", path("w.h5"), "--tokens",
                                path("t.h5"),   "--out",     path("e.h5")};

        succeed(QStringList{"evaluate"} + files + QStringList{"--step", "--jacobian"});
        const std::string out = path("e.h5").toStdString();
        for (const char* object :
             {"hidden", "final", "logits", "loss", "attention", "grad/blocks.0.attn.wq", "grad/head.weight",
              "step/tok_emb", "jacobian/sublayer/1", "jacobian/end_to_end", "singular/end_to_end"}) {
            const auto want = read_file_array<double>(reference, "/" + name + "/expected/" + object);
            const auto got = read_file_array<double>(out, std::string("/") + object);
            QVERIFY2(got.shape == want.shape, object);
            for (std::size_t i = 0; i < want.data.size(); ++i)
                QVERIFY2(std::abs(got.data[i] - want.data[i]) < 1e-8, object);
        }
        succeed(QStringList{"evaluate"} + files + QStringList{"--dtype", "float32"});
        QVERIFY(!has_object(out, "/step"));
        QVERIFY(!has_object(out, "/jacobian"));
        QCOMPARE(read_named_arrays(out, "/grad").at(0).type, StoredType::Float32);

        succeed(QStringList{"probe"} + files + QStringList{"--probes", "theta"});
        const auto theta = read_file_array<double>(out, "/probes/theta/max");
        const auto want = read_file_array<double>(reference, "/" + name + "/expected/probes/theta/max");
        for (std::size_t i = 0; i < want.data.size(); ++i)
            QVERIFY(std::abs(theta.data[i] - want.data[i]) < 1e-12);
    }

    void thetaOfKnownRows() {
        const std::vector<double> p{0.35, 0.30, 0.20, 0.15, 1, 0, 0, 0, 0.75, 0.25, 0, 0};
        write_named_arrays(path("p.h5").toStdString(), {stored("/p", {3, 4}, p.data())});
        succeed({"theta", path("p.h5"), "--out", path("theta.h5")});
        const auto read = [&](const char* name) {
            return read_file_array<double>(path("theta.h5").toStdString(), name, 1).data;
        };
        const auto theta = read("/theta"), lower = read("/lower"), upper = read("/upper");
        const double want[] = {1, 0, 0.75};
        for (std::size_t i = 0; i < 3; ++i) {
            QVERIFY(std::abs(theta[i] - want[i]) < 1e-12);
            QVERIFY(lower[i] <= theta[i] + 1e-15 && want[i] <= upper[i] + 1e-15 &&
                    upper[i] - lower[i] < 1e-12);
        }
    }

    /// The help states what `every` and `steps` add, and a run does so.
    void theHelpStatesAtWhichStepsAProbeIsMeasured() {
        for (const char* command : {"probes", "train"}) {
            const CliResult help = run_cli({command, "--help"});
            QCOMPARE(help.code, 0);
            QVERIFY2(help.out.contains("measured at step 0, at the last step, and in between"), command);
        }
        const auto stepsOf = [&](const char* probes) {
            const QString out = path("cadence.h5");
            const CliResult result = run_cli(QStringList{"train", "pre-ln", "--out", out, "--steps", "20",
                                                         "--set", QString("probes=%1").arg(probes)} +
                                             small_stack());
            if (result.code != 0) qWarning("%s", qPrintable(result.error));
            QList<qint64> steps;
            for (const ProbeResult& sample : open_session(out.toStdString()).runs.at(0).probes.at("growth"))
                steps << sample.step;
            return steps;
        };
        QCOMPARE(stepsOf(R"([{"id":"growth","every":7}])"), (QList<qint64>{0, 7, 14, 19}));
        QCOMPARE(stepsOf(R"([{"id":"growth","steps":"3:5,10"}])"), (QList<qint64>{0, 3, 4, 5, 10, 19}));
    }
};

NORMSCOPE_TEST(CommandsTest)
#include "commands_test.moc"
