// SPDX-License-Identifier: GPL-3.0-or-later
// The entries that come with the program can be run and measured; what is wrong in one has a clear line.
#include "core/base/error.h"
#include "core/gallery/gallery.h"
#include "core/gallery/recipe_distance.h"
#include "core/gallery/thorough.h"
#include "core/run/complete.h"
#include "core/run/corpora.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <map>
#include <set>

using namespace normscope;

namespace {

const char* const kEntry = R"({
    "format": "normscope-gallery", "version": 1, "title": "T", "place": "Figure 1", "statement": "S",
    "sweep": {"preset": "pre-ln", "set": ["steps=3"],
              "grid": ["stack.scheme=pre,post"], "seeds": "42:44"},
    "measures": [{"name": "M", "effect": "ratio", "quantity": {"probe": "growth", "array": "ma", "over": "last"},
                  "of": {"stack.scheme": "post"}, "against": {"stack.scheme": "pre"}, "is": "<"}]
})";

QString replaced(const char* from, const char* to) {
    QString text = QString::fromUtf8(kEntry);
    Q_ASSERT(text.contains(QLatin1String(from)));
    return text.replace(QLatin1String(from), QString::fromUtf8(to));
}

}  // namespace

class EntriesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void ofEveryPaper() {
        std::map<std::string, int> papers;
        std::set<std::string> ids;
        for (const GalleryEntry& entry : gallery()) {
            ++papers[entry.paper()];
            QVERIFY2(ids.insert(entry.id).second, entry.id.c_str());
            QCOMPARE(find_gallery_entry(entry.id), &entry);
        }
        QCOMPARE(papers.size(), std::size_t{5});
        QVERIFY2(ids.size() >= 20, qPrintable(QString::number(ids.size())));
        QVERIFY(!find_gallery_entry("e-fig99"));
    }

    /// Every recipe is valid; every probe that is measured is recorded at the first and the last step at
    /// least.
    void canBeRun() {
        Corpora corpora;
        for (const GalleryEntry& entry : gallery()) {
            QVERIFY2(entry.sweep.seeds.size() - entry.sweep.choice.seeds >= 3, entry.id.c_str());
            const auto runs = expand_sweep(entry.sweep);
            QCOMPARE(require_valid(entry.sweep, runs, corpora).size(), entry.sweep.runs());
            const Recipe recipe = recipe_of(entry.sweep, runs.front());
            for (const GalleryQuantity& quantity : entry.quantities()) {
                if (quantity.kind != GalleryQuantity::Kind::Probe) continue;
                const bool planned =
                    std::any_of(recipe.probes.begin(), recipe.probes.end(),
                                [&](const ProbePlan& plan) { return plan.id == quantity.scalar.probe; });
                QVERIFY2(planned, qPrintable(QString::fromStdString(entry.id + ": " + quantity.title())));
            }
        }
    }

    void heldOutLoss() {
        const QString text =
            replaced(R"("effect": "ratio", "quantity": {"probe": "growth", "array": "ma", "over": "last"})",
                     R"("effect": "difference", "quantity": "held_out_loss")");
        const GalleryMeasure measure = read_gallery_entry("e-x", text.toStdString()).measures.front();
        QVERIFY(measure.quantity.kind == GalleryQuantity::Kind::HeldOutLoss);
        QVERIFY(measure.quantity == measure.against_quantity);
        QCOMPARE(measure.unit, std::string("nat"));
        QCOMPARE(measure.interest, 0.01);  // as of training losses
        QCOMPARE(measure.quantity.title(), std::string("held-out loss"));
    }

    /// Every run of a sweep is of use to a measure, directly or as the cell that another is compared with;
    /// cells that only fill up a grid of two keys are the exception.
    void everyMeasureHasItsRuns() {
        for (const GalleryEntry& entry : gallery()) {
            std::set<std::string> names;
            for (const GalleryMeasure& measure : entry.measures) {
                QVERIFY2(names.insert(measure.name).second, measure.name.c_str());
                const std::size_t keys = entry.sweep.grid.size() - entry.sweep.choice.keys.size();
                if (measure.effect == GalleryMeasure::Effect::Scatter) continue;  // of all cells
                QCOMPARE(measure.of.size(), keys);
                if (measure.effect != GalleryMeasure::Effect::Value) QCOMPARE(measure.against.size(), keys);
            }
        }
    }

    /// The size that the paper gives lies on the side that its statement has.
    void papersAgreeWithThemselves() {
        for (const GalleryEntry& entry : gallery())
            for (const GalleryMeasure& measure : entry.measures) {
                if (!measure.paper) continue;
                const QString where = QString::fromStdString(entry.id + ": " + measure.name);
                if (measure.side == GalleryMeasure::Side::Above)
                    QVERIFY2(*measure.paper >= measure.limit, qPrintable(where));
                if (measure.side == GalleryMeasure::Side::Below)
                    QVERIFY2(*measure.paper <= measure.limit, qPrintable(where));
            }
    }

    void isRead() {
        const GalleryEntry entry = read_gallery_entry("k-x", kEntry);
        QCOMPARE(entry.paper(), "Kan");
        QCOMPARE(entry.sweep.runs(), std::size_t{6});
        const GalleryMeasure& measure = entry.measures.front();
        QCOMPARE(measure.limit, 1.0);  // of a ratio
        QCOMPARE(measure.of.at("stack.scheme"), std::string("post"));
        QVERIFY(measure.against_quantity == measure.quantity);
        QCOMPARE(entry.quantities().size(), std::size_t{2});  // and whether the arms learned
        QVERIFY(measure.arms_learn);
        QCOMPARE(measure.interest, 0.1);
        const auto read = [](const char* from, const char* to) {
            return read_gallery_entry("k-x", replaced(from, to).toStdString()).measures.front();
        };
        QVERIFY(!read("\"is\": \"<\"", "\"is\": \"<\", \"arms\": \"may fail\"").arms_learn);
        QVERIFY(!read("\"over\": \"last\"", "\"over\": \"last\", \"when\": \"first\"").arms_learn);
        QCOMPARE(read("\"is\": \"<\"", "\"is\": \"<\", \"interest\": 0.5").interest, 0.5);
    }

    void armsChoose() {
        const auto text = [](const char* choose) {
            return replaced("\"seeds\": \"42:44\"", choose).toStdString();
        };
        const GalleryEntry entry = read_gallery_entry(
            "k-x", text(R"("seeds": "42:44", "tied": ["stack.scheme=post: stack.init.rule=gpt2"],
                           "choose": {"grid": ["optimizer.lr=1e-3,1e-2"], "seeds": "142:143"})"));
        QCOMPARE(entry.sweep.seeds, (std::vector<std::uint64_t>{142, 143, 42, 43, 44}));
        QCOMPARE(entry.sweep.trained_runs(), std::size_t{2 * 2 * 2 + 2 * 3});
        QCOMPARE(entry.measures.front().of, (GalleryCell{{"stack.scheme", "post"}}));
        QCOMPARE(entry.sweep.ties.size(), std::size_t{1});
        std::string thrown;
        try {
            read_gallery_entry(
                "k-x", text(R"("seeds": "42:44", "choose": {"grid": ["stack.scheme=pre"], "seeds": "1"})"));
        } catch (const InputError& error) {
            thrown = error.what();
        }
        QVERIFY2(thrown.find("stack.scheme: is given twice") != std::string::npos, thrown.c_str());
    }

    /// Every setting of the paper next to ours; of the note without experiments none.
    void theDistanceFromThePaper() {
        for (const GalleryEntry& entry : gallery()) {
            const auto rows = recipe_distance(entry);
            QCOMPARE(rows.empty(), entry.id.front() == 'n');
            for (const RecipeDistance& row : rows)
                QVERIFY2(!row.what.empty() && !row.theirs.empty() && !row.ours.empty(), row.what.c_str());
        }
        const auto ours = [](const char* id, const std::string& what) {
            for (const RecipeDistance& row : recipe_distance(*find_gallery_entry(id)))
                if (row.what == what) return QString::fromStdString(row.theirs + " | " + row.ours);
            return QString();
        };
        QCOMPARE(ours("g-table2-pre", "learning rate"), QString("1e-3, of 350M and 1B 5e-4 | 0.001"));
        QCOMPARE(ours("g-table2-pre", "block"), QString("llama | llama"));
        QCOMPARE(ours("e-fig1-loss", "seeds"), QString("42, 123, 456 | 42, 43, 44, 45, 46"));
        QCOMPARE(ours("e-fig1-loss", "chosen for each arm"),
                 QString("not stated | optimizer.lr, on seeds 142, 143"));
        QCOMPARE(ours("k-table1", "weight decay"), QString("0.1; 0 in one half of Table 1 | 0.1; 0"));
    }

    /// Lengths and sizes, each arm at its own best; keys of the entry's grid are not chosen.
    void thoroughParts() {
        const auto parts = thorough_parts(*find_gallery_entry("e-fig1-loss"));
        QStringList names;
        for (const ThoroughPart& part : parts) names << QString::fromStdString(part.name);
        QCOMPARE(names, QStringList({"200 steps", "600 steps", "2000 steps", "600 steps, 2 × depth",
                                     "600 steps, 2 × width"}));
        const SweepSpec& longest = parts[2].entry.sweep;
        QCOMPARE(longest.choice.keys, (std::vector<std::string>{"optimizer.lr", "schedule.warmup"}));
        QCOMPARE(longest.grid[2].values,
                 (std::vector<std::string>{"0.0003", "0.000949", "0.003", "0.00949", "0.03"}));
        QCOMPARE(longest.grid[3].values, (std::vector<std::string>{"0", "100", "200"}));
        QCOMPARE(longest.seeds, (std::vector<std::uint64_t>{142, 143, 42, 43, 44, 45, 46}));
        QCOMPARE(recipe_of(longest, expand_sweep(longest).front()).train.steps, 2000);
        QCOMPARE(recipe_of(parts[3].entry.sweep, expand_sweep(parts[3].entry.sweep).front()).stack.depth, 24);
        QVERIFY(training_operations(parts[2].entry) > 9 * training_operations(parts[0].entry));
        QVERIFY(training_operations(parts[2].entry) < 11 * training_operations(parts[0].entry));
        const auto rates = thorough_parts(*find_gallery_entry("n-warmup"));
        QVERIFY(rates[0].entry.sweep.choice.keys.empty());  // both are in its grid
        const auto initial = thorough_parts(*find_gallery_entry("n-table1"));
        QCOMPARE(initial.size(), std::size_t{3});
        QVERIFY(initial[1].entry.sweep.choice.keys.empty());
        for (const GalleryEntry& entry : gallery())
            for (const ThoroughPart& part : thorough_parts(entry)) expand_sweep(part.entry.sweep);
    }

    void isRejected_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("line");
        QTest::newRow("between") << replaced("\"over\": \"last\"", "\"over\": \"last\", \"between\": [5, 5]")
                                 << "between: is no range of steps";
        QTest::newRow("chosen key") << replaced("\"seeds\": \"42:44\"",
                                                "\"seeds\": \"42:44\", \"choose\": {\"grid\": "
                                                "[\"optimizer.lr=1,2\"], \"seeds\": \"44\"}")
                                    << "--seeds: 44 is one that chooses";
        QTest::newRow("json") << "{"
                              << "gallery entry k-x: ";
        QTest::newRow("format") << replaced("normscope-gallery", "normscope-story") << "not a gallery entry";
        QTest::newRow("key") << replaced("\"place\"", "\"places\"") << "places: is unknown, allowed: format";
        QTest::newRow("no title") << replaced("\"title\": \"T\"", "\"title\": \"\"") << "title: is missing";
        QTest::newRow("preset") << replaced("pre-ln", "pre-lm") << "pre-lm";
        QTest::newRow("grid key") << replaced("stack.scheme=pre", "stack.skeme=pre") << "stack.skeme";
        QTest::newRow("interest") << replaced("\"is\": \"<\"", "\"is\": \"<\", \"interest\": -1")
                                  << "interest: is out of range, allowed: 0 or above";
        QTest::newRow("arms") << replaced("\"is\": \"<\"", "\"is\": \"<\", \"arms\": \"fail\"")
                              << "arms: fail is unknown, allowed: learn, may fail";
        QTest::newRow("effect")
            << replaced("\"ratio\"", "\"share\"")
            << "measures.0: effect: share is unknown, allowed: value, difference, ratio, scatter";
        QTest::newRow("statistic") << replaced("\"is\": \"<\"", "\"is\": \"<\", \"statistic\": \"slope\"")
                                   << "measures.0: statistic: is given, allowed: with scatter";
        QTest::newRow("batches") << replaced("\"is\": \"<\"", "\"is\": \"<\", \"batches\": \"same\"")
                                 << "batches: same is unknown, allowed: equal";
        const char* const quantity = R"({"probe": "growth", "array": "ma", "over": "last"})";
        QTest::newRow("recipe key") << replaced(quantity, R"({"key": "stack.scheme"})")
                                    << "key: stack.scheme is no number of a recipe";
        QTest::newRow("column") << replaced(quantity, R"({"tail": "lost", "steps": 5})")
                                << "tail: lost is unknown, allowed: loss";
        QTest::newRow("steps of a tail") << replaced(quantity, R"({"tail": "loss", "steps": 0})")
                                         << "steps: is out of range, allowed: 1 … ";
        QTest::newRow("lead") << replaced(quantity, R"({"lead": "days"})")
                              << "lead: days is unknown, allowed: lag, correlation";
        QTest::newRow("probe") << replaced("\"probe\": \"growth\"", "\"probe\": \"grow\"")
                               << "probe: grow is unknown, allowed: ";
        QTest::newRow("array") << replaced("\"ma\"", "\"mo\"") << "array: mo is unknown, allowed: ma, var";
        QTest::newRow("over") << replaced("\"over\": \"last\"", "\"over\": \"most\"")
                              << "\"most\" is unknown";
        QTest::newRow("value") << replaced("{\"stack.scheme\": \"post\"}", "{\"stack.scheme\": \"peri\"}")
                               << "of.stack.scheme: peri is no value of the grid, allowed: pre, post";
        QTest::newRow("no cell") << replaced("{\"stack.scheme\": \"post\"}", "{}")
                                 << "of: has no value of stack.scheme";
        QTest::newRow("itself") << replaced("{\"stack.scheme\": \"pre\"}", "{\"stack.scheme\": \"post\"}")
                                << "against: is the same as `of`";
        QTest::newRow("side") << replaced("\"is\": \"<\"", "\"is\": \"=\"")
                              << "is: = is unknown, allowed: >, <, ≈";
        QTest::newRow("near") << replaced("\"is\": \"<\"", "\"is\": \"≈\"") << "within: is missing";
        QTest::newRow("limit") << replaced("\"is\": \"<\"", "\"is\": \"<\", \"than\": 0")
                               << "than: is out of range, allowed: above 0 for a ratio";
        QTest::newRow("outcome") << replaced(R"({"probe": "growth", "array": "ma", "over": "last"})",
                                             R"({"outcome": ["diverged"]})")
                                 << "effect: is not possible for an outcome";
    }
    void isRejected() {
        QFETCH(QString, text);
        QFETCH(QString, line);
        try {
            read_gallery_entry("k-x", text.toStdString());
        } catch (const InputError& error) {
            const QString message = QString::fromUtf8(error.what());
            QVERIFY2(message.contains(line), qPrintable(message));
            QVERIFY(!message.contains('\n'));
            return;
        }
        QFAIL("it was read");
    }
};

NORMSCOPE_TEST(EntriesTest)
#include "entries_test.moc"
