// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that are broken on purpose, through the program: what is named first, in the text and in the last
// object of --json.
#include "core/model/transformer.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"
#include "core/session/named_arrays.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <functional>
#include <map>

using namespace normscope;

namespace {

using Weights = std::map<std::string, std::vector<float>>;

void fill(Weights& weights, const std::string& name, float value) {
    std::vector<float>& tensor = weights.at(name);
    std::fill(tensor.begin(), tensor.end(), value);
}

struct Breakage {
    const char* name;
    QStringList settings;
    std::function<void(Weights&)> breaks;  ///< the initial weights; empty: they are used as they are
    int steps;
    const char* operation;  ///< of the first bad place; null: the run does not end by one
    int layer;              ///< from 1
    const char* finding;    ///< its id; null: none is asked for
    const char* words;      ///< in the outcome, the finding or the warning
};

const QStringList kSmall{"stack.depth=2", "stack.d_model=16", "stack.heads=2", "stack.context=16", "batch=2"};

std::vector<Breakage> breakages() {
    const QString fp16 = "precision=fp16";
    const auto probe = [](const char* id) { return QString(R"(probes=[{"id":"%1","every":1}])").arg(id); };
    return {
        {"overflow in the residual add",
         {fp16},
         [](Weights& w) {
             fill(w, "blocks.0.ffn.w2", 0), fill(w, "blocks.0.ffn.b2", 40000);
             fill(w, "blocks.1.attn.wo", 0), fill(w, "blocks.1.attn.bo", 40000);
         },
         2,
         "attn.residual_add",
         2,
         nullptr,
         ": 80000 > 65504 · inf"},
        {"overflow in the scores",
         {fp16},
         [](Weights& w) {
             for (const char* tensor : {"wq", "wk"}) fill(w, std::string("blocks.1.attn.") + tensor, 0);
             for (const char* tensor : {"bq", "bk"}) fill(w, std::string("blocks.1.attn.") + tensor, 100);
         },
         2,
         "attn.scores",
         2,
         nullptr,
         "head 1, key 0: 80000 > 65504"},
        {"overflow in the feed-forward map",
         {fp16},
         [](Weights& w) {
             fill(w, "blocks.1.ffn.norm_in.weight", 0), fill(w, "blocks.1.ffn.norm_in.bias", 1);
             fill(w, "blocks.1.ffn.w1", 5000);
         },
         2,
         "ffn.w1",
         2,
         nullptr,
         ": 80000 > 65504"},
        {"0 times infinity in a norm",
         {fp16, "stack.norm.eps=0"},
         [](Weights& w) { fill(w, "tok_emb", 1), fill(w, "pos_emb", 0); },
         2,
         "attn.norm_in",
         1,
         nullptr,
         "1/sigma = inf · nan"},
        {"the loss scale at its lowest",
         {fp16, "stack.scheme=peri", "stack.norm.eps=1e-24"},
         [](Weights& w) {
             // The norm after the branch divides by √ε.
             fill(w, "blocks.1.attn.wo", 0), fill(w, "blocks.1.attn.bo", 0);
         },
         60,
         "gradient of attn.wo",
         2,
         "skipped",
         "at the lowest loss scale 6.10352e-05 · nan"},
        {"gains that blocks clamp",
         {probe("mismatch")},
         [](Weights& w) { fill(w, "blocks.1.ffn.norm_in.weight", 1.875f); },
         2,
         nullptr,
         0,
         "clamped",
         "γ of layer 2 ffn.norm_in in MX E4M3, at step 1: 100 %"},
        {"clipping under Adam's epsilon",
         {"optimizer.clip=1e-8", probe("updates")},
         {},
         6,
         nullptr,
         0,
         "under_eps",
         "There the root of the second moment is below it. Clipping at 10⁻⁸ made the gradient"},
        {"logits shifted by 1000",
         {probe("gradients")},
         [](Weights& w) {
             fill(w, "final_norm.bias", 0), fill(w, "final_norm.weight", 0);
             w.at("final_norm.bias")[0] = 1000;
             fill(w, "head.weight", 0);
             for (std::size_t i = 0; i < w.at("head.weight").size(); i += 16) w.at("head.weight")[i] = 1;
         },
         1,
         nullptr,
         0,
         "logits",
         "A shift of all logits together changes no loss"},
        {"an epsilon that FP16 does not hold",
         {fp16, "stack.norm.eps=1e-12"},
         {},
         1,
         nullptr,
         0,
         nullptr,
         "norm.eps 1e-12 with precision fp16: in FP16 it is 0"},
    };
}

}  // namespace

class BreakagesTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }

    /// The initial weights of the recipe, broken.
    void write_weights(const Breakage& breakage, const QString& file) const {
        std::vector<std::string> settings;
        for (const QString& setting : kSmall + breakage.settings) settings.push_back(setting.toStdString());
        Recipe recipe = read_recipe("pre-ln", settings);
        complete_and_validate(recipe);
        const Transformer<float> model(recipe.stack, recipe.train.seed);
        Weights weights;
        const auto& tensors = model.table().tensors();
        for (const TensorInfo& t : tensors)
            weights[t.name].assign(model.parameters().data() + t.offset,
                                   model.parameters().data() + t.offset + t.count);
        if (breakage.breaks) breakage.breaks(weights);
        std::vector<StoredTensor> stored_weights;
        for (const TensorInfo& t : tensors)
            stored_weights.push_back(
                stored("/params/" + t.name, {t.shape.begin(), t.shape.end()}, weights.at(t.name).data()));
        write_named_arrays(file.toStdString(), stored_weights);
    }

  private Q_SLOTS:
    void whatBreaksFirstIsNamed_data() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Breakage& breakage : breakages()) QTest::newRow(breakage.name) << index++;
    }
    void whatBreaksFirstIsNamed() {
        QFETCH(int, index);
        const Breakage broken = breakages()[static_cast<std::size_t>(index)];
        const QString weights = path("w.h5"), words = QString::fromUtf8(broken.words);
        write_weights(broken, weights);
        QStringList train{"train",     "pre-ln",  "--weights",
                          weights,     "--steps", QString::number(broken.steps),
                          "--threads", "1"};
        for (const QString& setting : kSmall + broken.settings) train << "--set" << setting;
        const CliResult text = run_cli(train + QStringList{"--out", path("text.h5")});
        const CliResult json = run_cli(train + QStringList{"--out", path("json.h5"), "--json"});
        QVERIFY2(text.code == (broken.operation ? 3 : 0), qPrintable(text.out + text.error));
        QCOMPARE(json.code, text.code);
        const QJsonObject end =
            QJsonDocument::fromJson(json.out.trimmed().split('\n').last().toUtf8()).object();
        QCOMPARE(end["event"].toString(), QString("end"));
        const QJsonObject bad = end["first_bad"].toObject();
        QCOMPARE(bad.isEmpty(), broken.operation == nullptr);
        if (broken.operation) {
            QCOMPARE(bad["operation"].toString(), QString(broken.operation));
            QCOMPARE(bad["layer"].toInt(-1), broken.layer);
            QCOMPARE(end["state"].toString(), QString("diverged"));
            QVERIFY2(end["text"].toString().contains(words), qPrintable(end["text"].toString()));
            QVERIFY2(text.out.contains(end["text"].toString()), qPrintable(text.out));
        }
        if (!broken.finding) {
            if (!broken.operation)
                QVERIFY2(text.error.contains(words) && json.error.contains(words), qPrintable(text.error));
            return;
        }
        QString found;
        for (const QJsonValue& finding : end["findings"].toArray())
            if (finding["id"].toString() == QLatin1String(broken.finding)) {
                found = finding["text"].toString();
                QVERIFY(finding["evidence"]["step"].toInt(-1) >= 0);
                QVERIFY(!finding["evidence"]["quantity"].toString().isEmpty());
            }
        QVERIFY2(!found.isEmpty(), qPrintable(json.out.right(2000)));
        if (!broken.operation) QVERIFY2(found.contains(words), qPrintable(found));
        const CliResult info = run_cli({"info", path("text.h5"), "--findings"});
        QVERIFY2(info.out.contains(found), qPrintable(info.out));
    }

    /// Named with its number before any pass reads the embedding.
    void aTokenBeyondTheVocabulary() {
        const std::vector<std::int32_t> tokens{0, 1, 999, 3}, targets{1, 2, 3, 4};
        write_named_arrays(path("tokens.h5").toStdString(), {stored("/tokens", {1, 4}, tokens.data()),
                                                             stored("/targets", {1, 4}, targets.data())});
        const CliResult result = run_cli(QStringList{"probe", "pre-ln", "--probes", "ranges", "--tokens",
                                                     path("tokens.h5"), "--out", path("ranges.h5")} +
                                         small_stack());
        QCOMPARE(result.code, 2);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.contains("999"), qPrintable(result.error));
        QVERIFY(!QFile::exists(path("ranges.h5")));
    }
};

NORMSCOPE_TEST(BreakagesTest)
#include "breakages_test.moc"
