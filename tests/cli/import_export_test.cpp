// SPDX-License-Identifier: GPL-3.0-or-later
// Another program's model through the commands: imported, evaluated, probed, trained on, exported, imported
// again.
#include "core/interchange/model_file.h"
#include "core/recipe/recipe.h"
#include "core/recipe/size_presets.h"
#include "core/run/complete.h"
#include "core/session/named_arrays.h"
#include "core/session/session.h"
#include "core/train/data/corpus.h"
#include "tests/cli/cli_process.h"
#include "tests/interchange/sample_models.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

using namespace normscope;

class ImportExportTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }

    void write(const QString& name, const QByteArray& bytes) {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), bytes.size());
    }
    QByteArray read(const QString& name) {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static QByteArray bytes(const sample::Bytes& bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())};
    }
    static CliResult succeed(const QStringList& arguments) {
        CliResult result = run_cli(arguments);
        if (result.code != 0)
            QTest::qFail(qPrintable(arguments.join(' ') + ": " + result.error), __FILE__, __LINE__);
        return result;
    }
    void wrong_input(const QStringList& arguments, const char* message) {
        const CliResult result = run_cli(arguments);
        QCOMPARE(result.code, 2);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.contains(message), qPrintable(result.error));
    }

  private Q_SLOTS:
    void importWritesRecipeAndWeights() {
        write("model.safetensors", bytes(sample::llama(false).bytes));
        write("config.json", QByteArray::fromStdString(*sample::llama(false).config));
        const QString out = succeed({"import", path("model.safetensors"), "--recipe", path("r.json"),
                                     "--weights", path("w.h5")})
                                .out;
        QVERIFY2(out.contains("llama, 21 tensors, "), qPrintable(out));
        const Recipe recipe = read_recipe(path("r.json").toStdString());
        QVERIFY(recipe.stack.block == Block::Llama && recipe.stack.rope_base == 500000);
        QCOMPARE(read_named_arrays(path("w.h5").toStdString(), "/params"),
                 import_model(path("model.safetensors").toStdString()).weights);
    }

    void badModelsAreOneLine() {
        write("broken.safetensors", QByteArray(100, '{'));
        wrong_input(
            {"import", path("broken.safetensors"), "--recipe", path("x.json"), "--weights", path("x.h5")},
            "header");
        wrong_input({"import", path("none.bin"), "--recipe", path("x.json"), "--weights", path("x.h5")},
                    "none.bin");
        wrong_input({"import", path("model.safetensors"), "--recipe", path("model.safetensors"), "--weights",
                     path("x.h5")},
                    "is also an input");
        QVERIFY(!QFile::exists(path("x.json")) && !QFile::exists(path("x.h5")));
        wrong_input({"export", path("r.json"), "--out", path("m.safetensors")}, "is no run");
        wrong_input({"export", path("w.h5"), "--out", path("m.bin")}, "MODEL.safetensors");
    }

    /// The loss of step 0 is that of the weights given, on the same batch.
    void trainingStartsFromTheWeights() {
        const QStringList small =
            small_stack() + QStringList{"--set", "precision=fp64", "--set", "optimizer.lr=1e-4"};
        succeed(QStringList{"train", "pre-ln", "--out", path("first.h5"), "--steps", "30"} + small);
        succeed({"export", path("first.h5"), "--out", path("m.safetensors")});
        succeed({"import", path("m.safetensors"), "--recipe", path("on.json"), "--weights", path("on.h5")});
        succeed({"train", path("on.json"), "--weights", path("on.h5"), "--out", path("on_run.h5"), "--steps",
                 "3", "--threads", "1", "--set", "batch=8"});  // it can afford all of the probe batch
        const RunData run = open_session(path("on_run.h5").toStdString()).runs.at(0);
        QCOMPARE(run.events.at(0).kind, "weights");
        // A recipe does not reproduce them: the session stores them.
        const std::vector<EmbeddedCheckpoint> kept =
            open_session(path("on_run.h5").toStdString()).checkpoints;
        QCOMPARE(kept.size(), 2u);
        QCOMPARE(kept[0].step, std::int64_t(0));
        QCOMPARE(load_checkpoint(path("on_run.h5").toStdString(), run.id, 0).params.size(),
                 read_named_arrays(path("on.h5").toStdString(), "/params").size());
        QVERIFY(!QFile::exists(path("on_run.ckpt.start.h5")));

        Recipe recipe = load_recipe(path("on.json").toStdString());
        recipe.train.batch = 8;
        const Batch batch =
            make_corpus(recipe.train.data, recipe.stack)
                ->train_batch(recipe.train.seed, 0, 0, recipe.train.batch, recipe.stack.context);
        const std::vector<std::size_t> shape{static_cast<std::size_t>(batch.sequences),
                                             static_cast<std::size_t>(batch.length)};
        write_named_arrays(path("t.h5").toStdString(), {stored("/tokens", shape, batch.tokens.data()),
                                                        stored("/targets", shape, batch.targets.data())});
        succeed({"evaluate", path("on.json"), "--weights", path("on.h5"), "--tokens", path("t.h5"), "--out",
                 path("e.h5")});
        const double loss = read_file_array<double>(path("e.h5").toStdString(), "/loss", 0).data[0];
        QVERIFY(std::abs(run.steps.find("loss")->at(0) - loss) < 1e-12);
        const RunData drawn = open_session(path("first.h5").toStdString()).runs.at(0);
        QVERIFY(std::abs(drawn.steps.find("loss")->at(0) - loss) > 1e-3);

        succeed({"probe", path("on.json"), "--weights", path("on.h5"), "--probes", "growth", "--out",
                 path("p.h5")});
        const auto rms = read_file_array<double>(path("p.h5").toStdString(), "/probes/growth/rms").data;
        const auto& sampled = run.probes.at("growth").at(0).find("rms")->data;
        QCOMPARE(rms.size(), sampled.size());
        QCOMPARE(run.probes.at("growth").at(0).labels.at("sampled"), std::vector<std::string>{"8 sequences"});
        for (std::size_t i = 0; i < rms.size(); ++i) QVERIFY(std::abs(rms[i] - sampled[i]) < 1e-9 * rms[i]);
        wrong_input({"train", "pre-ln", "--weights", path("on.h5"), "--out", path("no.h5")}, "has the shape");
    }

    void exportNamesWhatItWrote() {
        const QString gpt2 = succeed({"export", path("first.h5"), "--out", path("m.safetensors")}).out;
        QVERIFY2(gpt2.contains("under the names of gpt2") && gpt2.contains("step 30"), qPrintable(gpt2));
        QVERIFY2(gpt2.contains("exists and is kept"),
                 qPrintable(gpt2));  // config.json of the import above
        QVERIFY(QDir().mkpath(path("own")));
        succeed({"export", path("first.h5") + "@30", "--out", path("own/m.safetensors")});
        QVERIFY(read("own/config.json").contains("GPT2LMHeadModel"));
        succeed({"import", path("own/m.safetensors"), "--recipe", path("a.json"), "--weights", path("a.h5")});
        const auto weights = read_named_arrays(path("a.h5").toStdString(), "/params");
        QCOMPARE(weights, load_checkpoint(path("first.h5").toStdString(), "a", 30).params);

        // A step without a checkpoint is replayed, as by probe.
        const QString seventh =
            succeed({"export", path("first.h5") + "@7", "--out", path("own/seventh.safetensors")}).out;
        QVERIFY2(
            seventh.contains("replayed from step 0 to 7") && seventh.contains("seventh.safetensors: step 7,"),
            qPrintable(seventh));
        wrong_input({"export", path("first.h5") + "@31", "--out", path("own/late.safetensors")},
                    "has no step 31");
        wrong_input({"export", path("first.h5"), "--out", path("w.h5")}, "MODEL.safetensors");

        succeed(QStringList{"train", "post-ln", "--out", path("post.h5"), "--steps", "1"} + small_stack());
        const QString own = succeed({"export", path("post.h5"), "--out", path("post.safetensors")}).out;
        QVERIFY2(own.contains("under the names of normscope"), qPrintable(own));
    }

    void sizesAreListedAndPrinted() {
        const QString list = succeed({"presets"}).out;
        for (const Preset& preset : size_presets()) QVERIFY2(list.contains(preset.name), preset.name);
        write("size.json", succeed({"presets", "llama-71m"}).out.toUtf8());
        QCOMPARE(recipe_json(load_recipe(path("size.json").toStdString())),
                 recipe_json(load_recipe("llama-71m")));
    }
};

NORMSCOPE_TEST(ImportExportTest)
#include "import_export_test.moc"
