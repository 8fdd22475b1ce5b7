// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep's specification: values and ranges, expansion, names, sweep.json.
#include "core/sweep/sweep_spec.h"

#include "core/base/error.h"
#include "core/recipe/keys.h"
#include "core/recipe/recipe_text.h"
#include "tests/support/test_main.h"
#include "tests/sweep/rejected.h"

#include <QtTest>
#include <cmath>
#include <set>

using namespace normscope;
using test::rejected;

class SweepSpecTest : public QObject {
    Q_OBJECT

    static SweepSpec spec(std::vector<const char*> axes, std::vector<std::uint64_t> seeds = {42}) {
        SweepSpec made{recipe_text("pre-ln", {"steps=30"}), {}, std::move(seeds)};
        for (const char* axis : axes) made.grid.push_back(parse_sweep_axis(axis));
        return made;
    }

  private Q_SLOTS:
    void values_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("values");
        const auto row = [](const char* text, QStringList values) { QTest::newRow(text) << text << values; };
        row("stack.scheme=post,pre,peri", {"post", "pre", "peri"});
        row("stack.depth=4,8,16", {"4", "8", "16"});
        row("optimizer.lr=3e-4,1.0e-3,0.01", {"0.0003", "0.001", "0.01"});
        row("optimizer.lr=1e-7,2.5e-09", {"1e-7", "2.5e-9"});
        row("optimizer.betas=[0.9,0.95],[0.9, 0.99]", {"[0.9,0.95]", "[0.9,0.99]"});
        row("data.path=\"a,b.txt\",c.txt", {"\"a,b.txt\"", "c.txt"});
        row("stack.gpas.enabled=true,false", {"true", "false"});
        row("optimizer.lr=log:1e-4:1e-1:4", {"0.0001", "0.001", "0.01", "0.1"});
        row("optimizer.lr=log:3e-4:1e-2:4", {"0.0003", "0.000965489", "0.00310723", "0.01"});
        row("stack.residual_step=lin:0:1:5", {"0", "0.25", "0.5", "0.75", "1"});
        row("stack.depth=lin:4:16:4", {"4", "8", "12", "16"});
        row("optimizer.lr=lin:1:0:3", {"1", "0.5", "0"});
    }
    void values() {
        QFETCH(QString, text);
        QFETCH(QStringList, values);
        const SweepAxis axis = parse_sweep_axis(text.toStdString());
        QStringList got;
        for (const std::string& value : axis.values) got << QString::fromStdString(value);
        if (text.contains("a,b")) values[0] = "a,b.txt";  // no JSON: a bare word in the recipe
        QCOMPARE(got, values);
        QCOMPARE(QString::fromStdString(axis.key), text.section('=', 0, 0));
    }

    void rejectedValues_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* text, const char* message) {
            QTest::newRow(text) << text << message;
        };
        row("stack.depth", "--grid stack.depth: has no values, allowed: KEY=VALUES");
        row("=3", "--grid =3: has no values");
        row("stack.depth=", "has no values");
        row("stack.depth=4,,8", "--grid stack.depth: \"4,,8\" has an empty value");
        row("stack.depth=4,8,4", "--grid stack.depth: 4 is given twice");
        row("optimizer.lr=1e-3,0.001", "0.001 is given twice");
        row("optimizer.lr=log:0:1:4", "an end of the range is not positive, allowed: log:FIRST:LAST:COUNT");
        row("optimizer.lr=log:1e-3:-1:4", "an end of the range is not positive");
        row("optimizer.lr=log:1e-3:1e-1:0", "the range is empty: 0 values");
        row("optimizer.lr=log:1e-3:1e-1:1", "the range is empty: 1 values");
        row("optimizer.lr=lin:2:2:3", "the range is empty: both ends are 2");
        row("optimizer.lr=log:1e-3:1e-1", "\"log:1e-3:1e-1\" is no range");
        row("optimizer.lr=log:1e-3:x:3", "\"x\" is no number");
        row("optimizer.lr=log:1e-3:inf:3", "\"inf\" is no number");
        row("optimizer.lr=lin:0:1:2.5", "\"2.5\" is no count");
        row("optimizer.lr=lin:0:1:-3", "\"-3\" is no count");
        row("optimizer.lr=lin:0:1:99999999999", "are too many");
    }
    void rejectedValues() {
        QFETCH(QString, text);
        QFETCH(QString, message);
        const QString error = rejected([&] { parse_sweep_axis(text.toStdString()); });
        QVERIFY2(error.contains(message), qPrintable(error));
    }

    void seeds() {
        QCOMPARE(parse_seeds("42:44"), (std::vector<std::uint64_t>{42, 43, 44}));
        QCOMPARE(parse_seeds("7"), (std::vector<std::uint64_t>{7}));
        QCOMPARE(parse_seeds("18446744073709551614:18446744073709551615").size(), std::size_t(2));
        for (const char* text : {"44:42", "", "a", "1:2:3", "-1:2", "1.5", "0:18446744073709551615", "1:"})
            QVERIFY2(rejected([&] { parse_seeds(text); }).startsWith("--seeds: "), text);
    }

    /// The last key varies fastest but for the seeds; values reach their key, and no other key changes.
    void expansion() {
        const SweepSpec sweep = spec({"stack.scheme=post,deepnorm", "optimizer.lr=1e-3,3e-3"}, {42, 43});
        const std::vector<SweepRun> runs = expand_sweep(sweep);
        QCOMPARE(runs.size(), std::size_t(8));
        QCOMPARE(sweep.runs(), std::size_t(8));
        QStringList order;
        for (const SweepRun& run : runs) order << QString::fromStdString(settings_text(sweep, run));
        QCOMPARE(order[0], QString("stack.scheme=post optimizer.lr=0.001 seed=42"));
        QCOMPARE(order[1], QString("stack.scheme=post optimizer.lr=0.001 seed=43"));
        QCOMPARE(order[2], QString("stack.scheme=post optimizer.lr=0.003 seed=42"));
        QCOMPARE(order[7], QString("stack.scheme=deepnorm optimizer.lr=0.003 seed=43"));
        for (const SweepRun& run : runs) {
            // As `train` reads it.
            std::vector<std::string> settings{"steps=30", "seed=" + std::to_string(run.seed)};
            for (std::size_t i = 0; i < run.values.size(); ++i)
                settings.push_back(sweep.grid[i].key + "=" + run.values[i]);
            QVERIFY(recipe_of(sweep, run) == read_recipe("pre-ln", settings));
        }
        // A scheme alone: the initialisation is the recipe's.
        const Recipe deepnorm = recipe_of(sweep, runs[7]);
        QVERIFY(deepnorm.stack.scheme == Scheme::DeepNorm);
        QVERIFY(deepnorm.stack.init == read_recipe("pre-ln").stack.init);
        QVERIFY(!(deepnorm.stack.init == read_recipe("deepnorm").stack.init));
        // Only seeds; and no key at all is one run.
        QCOMPARE(expand_sweep(spec({}, {1, 2, 3})).size(), std::size_t(3));
    }

    void names() {
        const SweepSpec sweep = spec({"stack.scheme=post,pre", "optimizer.lr=3e-4,1e-2"}, {42, 43});
        const std::vector<SweepRun> runs = expand_sweep(sweep);
        QCOMPARE(runs[0].recording, std::string("runs/001_scheme-post_lr-0.0003_seed-42.h5"));
        QCOMPARE(runs[7].recording, std::string("runs/008_scheme-pre_lr-0.01_seed-43.h5"));
        QCOMPARE(runs[7].name, std::string("Pre-LN lr 0.01 seed 43"));
        std::set<std::string> all;
        for (const SweepRun& run : runs) all.insert(run.recording);
        QCOMPARE(all.size(), runs.size());
        // Values that are no file names, and long ones.
        const std::string path(300, 'x');
        SweepSpec odd = spec({"optimizer.betas=[0.9,0.95],[0.8,0.9]"});
        odd.grid.push_back({"data.path", {"../a b/ü.txt", path + "1", path + "2"}});
        std::set<std::string> files;
        for (const SweepRun& run : expand_sweep(odd)) {
            const std::string file = run.recording.substr(5);
            QVERIFY2(file.find_first_of("/ \"[]") == std::string::npos && file.size() < 200, file.c_str());
            files.insert(file);
        }
        QCOMPARE(files.size(), std::size_t(6));
    }

    void rejectedGrids() {
        const auto error = [&](std::vector<const char*> axes) {
            return rejected([&] { expand_sweep(spec(std::move(axes))); });
        };
        QVERIFY2(
            error({"stack.dpeth=2,4"}).startsWith("--grid stack.dpeth: unknown key, allowed: stack.block"),
            qPrintable(error({"stack.dpeth=2,4"})));
        QVERIFY(error({"nonsense=1,2"}).contains("--grid nonsense: unknown key, allowed: batch"));
        QVERIFY(error({"seed=1,2"}).contains("--seeds FIRST:LAST"));
        QVERIFY(error({"stack.depth=1,2", "stack.depth=3,4"}).contains("--grid stack.depth: is given twice"));
        QVERIFY(error({"optimizer.lr=lin:1:2:1000", "stack.residual_step=lin:0:1:1000"})
                    .contains("too many runs"));
        SweepSpec huge = spec({});
        for (int i = 0; i < 40; ++i)
            huge.grid.push_back({"stack.depth", std::vector<std::string>(60'000, "1")});
        QCOMPARE(huge.runs(), kMaxSweepRuns + 1);  // no overflow
    }

    /// A value out of range, and values that do not fit together, are named with the run before any step.
    void rejectedRecipes() {
        Corpora corpora;
        const auto error = [&](std::vector<const char*> axes) {
            return rejected([&] {
                const SweepSpec sweep = spec(std::move(axes));
                require_valid(sweep, expand_sweep(sweep), corpora);
            });
        };
        QVERIFY2(error({"stack.depth=4,0"}).contains("stack.depth: 0 is out of range, allowed: 1"),
                 qPrintable(error({"stack.depth=4,0"})));
        QVERIFY(error({"stack.scheme=post,prre"}).contains("prre"));
        const QString heads = error({"stack.heads=4,5"});
        QVERIFY2(heads.startsWith("stack.heads=5 seed=42: "), qPrintable(heads));
        QVERIFY(error({"stack.depth=lin:1:2:3"}).contains("1.5"));
        QCOMPARE(error({"stack.depth=2,4"}), QString("accepted"));
    }

    void json() {
        SweepSpec sweep = spec({"stack.scheme=post,pre", "optimizer.lr=log:3e-4:1e-2:4",
                                "optimizer.betas=[0.9,0.95],[0.8,0.9]", "stack.gpas.enabled=true,false"},
                               {42, 18446744073709551615ULL});
        sweep.grid.push_back({"data.path", {"a,b.txt", "\"1\"", "c d"}});
        const std::string text = sweep_json(sweep);
        const SweepSpec back = parse_sweep(text, "sweep.json");
        QVERIFY(back.grid == sweep.grid);
        QCOMPARE(back.seeds, sweep.seeds);
        QCOMPARE(sweep_difference(sweep, back), std::string());
        QCOMPARE(sweep_json(back), text);
        QVERIFY(text.find("\"title\"") == std::string::npos);

        QVERIFY(rejected([] { parse_sweep("{", "S"); }).startsWith("S: not valid JSON"));
        QVERIFY(rejected([] { parse_sweep("[1]", "S"); }).startsWith("S: not a sweep"));
        QVERIFY(rejected([] {
                    parse_sweep(R"({"format": "normscope-sweep", "version": 3})", "S");
                }).startsWith("S: version: 3 is not known, allowed: 1 or 2"));
        QVERIFY(rejected([] {
                    parse_sweep(R"({"format": "normscope-sweep", "version": 1})", "S");
                }).startsWith("S: damaged"));
        for (std::size_t cut = 0; cut + 2 < text.size(); cut += 7)
            QVERIFY(rejected([&] { parse_sweep(text.substr(0, cut), "S"); }) != "accepted");
    }

    void differences() {
        const SweepSpec sweep = spec({"optimizer.lr=1e-3,3e-3"});
        SweepSpec other = sweep;
        other.recipe = recipe_text("post-ln", {"steps=30"});
        QVERIFY(QString::fromStdString(sweep_difference(sweep, other))
                    .startsWith("stack.scheme: \"post\" differs from the \"pre\""));
        other = sweep;
        other.grid[0].values.push_back("0.01");
        QVERIFY(QString::fromStdString(sweep_difference(sweep, other))
                    .startsWith("--grid optimizer.lr=0.001,0.003,0.01 differs from"));
        other = sweep;
        other.grid.clear();
        QVERIFY(!sweep_difference(sweep, other).empty() && !sweep_difference(other, sweep).empty());
        other = sweep;
        other.seeds = {43};
        QVERIFY(
            QString::fromStdString(sweep_difference(sweep, other)).startsWith("seeds 43 differ from the 42"));
    }
};

NORMSCOPE_TEST(SweepSpecTest)
#include "sweep_spec_test.moc"
