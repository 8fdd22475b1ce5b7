// SPDX-License-Identifier: GPL-3.0-or-later
// From recordings to effects, intervals and verdicts.
#include "core/gallery/findings.h"

#include "core/backend/shared/counter_rng.h"
#include "core/gallery/cells.h"
#include "core/gallery/measure_values.h"
#include "core/recipe/recipe_text.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

using namespace normscope;
using Effect = GalleryMeasure::Effect;
using Side = GalleryMeasure::Side;
using When = GalleryQuantity::When;
using Kind = GalleryQuantity::Kind;

namespace {

constexpr const char* kKey = "stack.scheme";

/// Two schemes, three seeds: runs 0 … 2 are pre, 3 … 5 post.
GalleryEntry entry_of(std::vector<GalleryMeasure> measures) {
    GalleryEntry entry;
    entry.id = "k-x";
    entry.sweep = {recipe_text("pre-ln"), {{kKey, {"pre", "post"}}}, {42, 43, 44}};
    entry.measures = std::move(measures);
    return entry;
}

GalleryMeasure measure_of(Effect effect, Side side, double limit, GalleryQuantity quantity = {}) {
    GalleryMeasure measure;
    measure.name = "M";
    measure.effect = effect;
    measure.quantity = measure.against_quantity = quantity;
    measure.of = {{kKey, "post"}};
    if (effect != Effect::Value) measure.against = {{kKey, "pre"}};
    measure.side = side;
    measure.limit = limit;
    return measure;
}

/// One quantity, runs in their order.
std::map<std::size_t, GalleryValues> values_of(const std::vector<double>& values) {
    std::map<std::size_t, GalleryValues> all;
    for (std::size_t i = 0; i < values.size(); ++i) all[i] = {values[i]};
    return all;
}

GalleryFinding finding_of(const GalleryMeasure& measure, const std::vector<double>& values) {
    return gallery_findings(entry_of({measure}), values_of(values)).front();
}

bool close(double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b));
}

RunData recorded(const std::vector<std::pair<std::int64_t, std::vector<double>>>& samples) {
    RunData run;
    for (const auto& [step, values] : samples) {
        ProbeResult sample;
        sample.probe = "gates";
        sample.step = step;
        sample.arrays.push_back({"alpha", {values.size()}, values, {"layer"}, "1"});
        run.probes["gates"].push_back(std::move(sample));
    }
    return run;
}

std::optional<double> value_in(const RunData& run, const GalleryQuantity& quantity,
                               const SweepRow& row = {}) {
    return gallery_values(entry_of({measure_of(Effect::Value, Side::Above, 0, quantity)}), run, row).front();
}

GalleryQuantity alpha(SweepScalar::Over over, When when) {
    return {Kind::Probe, {}, {"gates", "alpha", over}, when};
}

}  // namespace

class FindingsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void samplesBetweenSteps() {
        const RunData run = recorded({{0, {1}}, {20, {2}}, {40, {8}}, {200, {4}}});
        GalleryQuantity quantity = alpha(SweepScalar::Over::First, When::LastOverFirst);
        QCOMPARE(value_in(run, quantity), std::optional(4.0));
        quantity.from = 20;
        quantity.to = 40;
        QCOMPARE(value_in(run, quantity), std::optional(4.0));
        quantity.from = 0;
        QCOMPARE(value_in(run, quantity), std::optional(8.0));
        quantity.from = 41;
        quantity.to = 199;
        QCOMPARE(value_in(run, quantity), std::optional<double>());
    }
    /// Runs are paired by their seed: the scatter between seeds drops out.
    void differencesArePaired() {
        const auto finding =
            finding_of(measure_of(Effect::Difference, Side::Above, 0), {1, 10, 100, 2.0, 11.1, 100.9});
        QVERIFY(close(finding.effect.mean, 1.0));
        const double error = std::sqrt((0 + 0.01 + 0.01) / 2 / 3);
        QVERIFY(close(finding.effect.high, 1 + 4.302652729749462 * error));
        QCOMPARE(finding.seeds, std::size_t{3});
        QVERIFY(finding.verdict == GalleryVerdict::AsPaper);
    }

    void ratiosAreGeometric() {
        const auto finding = finding_of(measure_of(Effect::Ratio, Side::Above, 1), {1, 1, 1, 2, 4, 8});
        QVERIFY(close(finding.effect.mean, 4));
        const double half = 4.302652729749462 * std::log(2.0) / std::sqrt(3.0);
        QVERIFY(close(finding.effect.low, 4 * std::exp(-half)));
        QVERIFY(close(finding.effect.high, 4 * std::exp(half)));
        QVERIFY(finding.verdict == GalleryVerdict::NotSeen);  // 0.7 … 22
    }

    void verdicts() {
        const std::vector<double> above{0, 0, 0, 1.0, 1.1, 0.9}, both{0, 0, 0, 1, -1, 0.5};
        const auto of = [](Side side, double limit, const std::vector<double>& values) {
            return finding_of(measure_of(Effect::Difference, side, limit), values).verdict;
        };
        QVERIFY(of(Side::Above, 0, above) == GalleryVerdict::AsPaper);
        QVERIFY(of(Side::Below, 0, above) == GalleryVerdict::Opposite);
        QVERIFY(of(Side::Above, 2, above) == GalleryVerdict::Opposite);
        QVERIFY(of(Side::Above, 0, both) == GalleryVerdict::NotSeen);
        QVERIFY(of(Side::Below, 0, both) == GalleryVerdict::NotSeen);
        GalleryMeasure near = measure_of(Effect::Difference, Side::Near, 1);
        near.tolerance = 0.3;
        QVERIFY(finding_of(near, above).verdict == GalleryVerdict::AsPaper);
        near.tolerance = 0.1;
        QVERIFY(finding_of(near, above).verdict == GalleryVerdict::NotSeen);
        near.limit = 3;
        QVERIFY(finding_of(near, above).verdict == GalleryVerdict::Opposite);
    }

    /// Pre-LN chooses 0.1, Post-LN 0.001, on seed 42; the effect is of the other two seeds at these rates.
    void armsAreComparedAtTheirOwnBest() {
        GalleryEntry entry = entry_of({measure_of(Effect::Difference, Side::Above, 0)});
        entry.sweep.grid.push_back({"optimizer.lr", {"0.001", "0.01", "0.1"}});
        entry.sweep.choice = {{"optimizer.lr"}, 1};
        std::map<std::size_t, GalleryValues> values;
        std::vector<SweepRow> rows;
        for (const SweepRun& run : expand_sweep(entry.sweep)) {
            const bool post = run.values[0] == "post";
            const double rate = std::stod(run.values[1]);
            SweepRow row;
            row.run = run.index;
            row.state = RunState::Finished;
            row.final_loss = std::abs(std::log10(rate / (post ? 1e-3 : 1e-1))) + (post ? 2 : 1) +
                             0.1 * static_cast<double>(run.seed);
            rows.push_back(row);
            values[run.index] = {*row.final_loss};
        }
        const GalleryFinding finding = gallery_findings(entry, values, rows).front();
        QCOMPARE(finding.of_seeds, std::size_t{2});
        QVERIFY(close(finding.effect.mean, 1.0));
        QCOMPARE(QString::fromStdString(finding.note),
                 QString("chosen at the edge of its grid: optimizer.lr of stack.scheme=post; optimizer.lr of "
                         "stack.scheme=pre"));
        rows.erase(rows.begin());  // a run that chooses has not ended
        QVERIFY(gallery_findings(entry, values, rows).front().verdict == GalleryVerdict::NotMeasured);
    }

    void effectsOfNoSize() {
        GalleryMeasure loss = measure_of(Effect::Difference, Side::Below, 0);
        loss.interest = 0.01;
        const std::vector<double> tiny{1, 1, 1, 1.0007, 1.0008, 1.0009}, large{1, 1, 1, 1.02, 1.021, 1.019};
        QVERIFY(finding_of(loss, tiny).verdict == GalleryVerdict::Smaller);
        QVERIFY(finding_of(loss, large).verdict == GalleryVerdict::Opposite);
        loss.interest = 0;
        QVERIFY(finding_of(loss, tiny).verdict == GalleryVerdict::Opposite);
        GalleryMeasure ratio = measure_of(Effect::Ratio, Side::Above, 1);
        ratio.interest = 0.1;
        QVERIFY(finding_of(ratio, {1, 1, 1, 0.95, 0.951, 0.949}).verdict == GalleryVerdict::Smaller);
        QVERIFY(finding_of(ratio, {1, 1, 1, 0.8, 0.801, 0.799}).verdict == GalleryVerdict::Opposite);
    }

    /// A collapsed arm can neither confirm nor refute.
    void armsThatDidNotLearn() {
        GalleryMeasure measure = measure_of(Effect::Difference, Side::Above, 0);
        measure.arms_learn = true;
        const auto finding = [&](std::vector<std::optional<double>> learned) {
            std::map<std::size_t, GalleryValues> values;
            const double loss[] = {1, 1, 1, 2, 2.1, 1.9};
            for (std::size_t i = 0; i < 6; ++i) values[i] = {loss[i], learned[i]};
            return gallery_findings(entry_of({measure}), values).front();
        };
        QCOMPARE(entry_of({measure}).quantities().size(), std::size_t{2});
        QVERIFY(finding({1, 1, 1, 1, 1, 1}).verdict == GalleryVerdict::AsPaper);
        QVERIFY(finding({1, 1, 1, 1, 1, 0}).verdict == GalleryVerdict::AsPaper);  // most did
        const auto failed = finding({1, 1, 1, 0, 0, 1});
        QVERIFY(failed.verdict == GalleryVerdict::CannotTell);
        QCOMPARE(failed.note, std::string("an arm did not learn more than token pairs: stack.scheme=post"));
        QVERIFY(close(failed.effect.mean, 1));  // it is printed all the same
        const std::optional<double> unknown;
        QVERIFY(finding({unknown, unknown, unknown, unknown, unknown, unknown}).verdict ==
                GalleryVerdict::AsPaper);
    }

    void learnedIsBelowTheEntropyOfPairs() {
        GalleryQuantity learned;
        learned.kind = Kind::Learned;
        RunData run = recorded({});
        run.bigram_entropy = 2;
        SweepRow row;
        row.final_loss = 1.9;
        QCOMPARE(value_in(run, learned, row), std::optional(1.0));
        row.final_loss = 2.0;
        QCOMPARE(value_in(run, learned, row), std::optional(0.0));
        run.bigram_entropy = std::nan("");
        QVERIFY(!value_in(run, learned, row));
    }

    /// 4.8e-7 [−4.7e-7, 1.4e-6] is no interval of a ratio that is above 0.
    void aRatioOfOneRunHasItsIntervalOverLogarithms() {
        const GalleryMeasure measure = measure_of(
            Effect::Value, Side::Below, 0.1,
            {Kind::Probe, {}, {"gradients", "hidden", SweepScalar::Over::FirstOverLast}, When::Last});
        const auto finding = finding_of(measure, {1, 1, 1, 1e-8, 1e-7, 1e-6});
        QVERIFY(close(finding.effect.mean, 1e-7) && finding.effect.low > 0);
        QVERIFY(finding.verdict == GalleryVerdict::AsPaper);
        QVERIFY(finding_of(measure, {1, 1, 1, 1e-8, 1e-7, -1e-6}).verdict == GalleryVerdict::NotMeasured);
    }

    void order() {
        const auto of = [](Effect effect, double limit, double paper, const std::vector<double>& values) {
            GalleryMeasure measure = measure_of(effect, Side::Above, limit);
            measure.paper = paper;
            return finding_of(measure, values).order;
        };
        const std::vector<double> one{1, 1, 1, 2, 2.01, 1.99};
        QCOMPARE(of(Effect::Difference, 0, 0.5, one), std::string("same"));
        QCOMPARE(of(Effect::Difference, 0, 4, one), std::string("smaller"));
        QCOMPARE(of(Effect::Difference, 0, 0.25, one), std::string("larger"));
        QCOMPARE(of(Effect::Ratio, 1, 4, one), std::string("same"));  // log 2 of log 4
        QCOMPARE(of(Effect::Ratio, 1, 20, one), std::string("smaller"));
        QCOMPARE(of(Effect::Difference, 5, 6, one), std::string());  // opposite
    }

    void whatIsMissingIsNotMeasured() {
        const GalleryMeasure measure = measure_of(Effect::Difference, Side::Above, 0);
        const auto finding = finding_of(measure, {0, 0, 0, 1});  // one pair
        QVERIFY(finding.verdict == GalleryVerdict::NotMeasured);
        QCOMPARE(finding.seeds, std::size_t{1});
        QCOMPARE(finding.note, std::string("1 of 3 seeds have a value; an interval needs two"));
        const auto none = finding_of(measure, {});
        QVERIFY(none.verdict == GalleryVerdict::NotMeasured && std::isnan(none.effect.mean));
        // Not dropped silently: the others would be a biased sample.
        const auto infinite = finding_of(measure, {0, 0, 0, 1, 1, std::numeric_limits<double>::infinity()});
        QVERIFY(infinite.verdict == GalleryVerdict::NotMeasured);
        QCOMPARE(infinite.note, std::string("not finite in 1 seeds"));
        const auto negative = finding_of(measure_of(Effect::Ratio, Side::Above, 1), {1, 1, 1, 2, 2, -1});
        QVERIFY(negative.verdict == GalleryVerdict::NotMeasured);
    }

    void outcomesAreShares() {
        GalleryQuantity diverged;
        diverged.kind = Kind::Outcome;
        diverged.states = {RunState::Diverged, RunState::Collapsed};
        const GalleryMeasure measure = measure_of(Effect::Difference, Side::Above, 0, diverged);
        const auto finding = finding_of(measure, {0, 0, 0, 1, 1, 1});
        const Interval expected = share_difference_interval(3, 3, 0, 3);
        QVERIFY(close(finding.effect.low, expected.low) && close(finding.effect.high, expected.high));
        QVERIFY(finding.verdict == GalleryVerdict::AsPaper);
        // Nothing in three runs excludes nothing.
        QVERIFY(finding_of(measure, {0, 0, 0, 0, 0, 0}).verdict == GalleryVerdict::NotSeen);

        SweepRow row;
        row.state = RunState::Collapsed;
        QCOMPARE(value_in({}, diverged, row), std::optional(1.0));
        row.state = RunState::Finished;
        QCOMPARE(value_in({}, diverged, row), std::optional(0.0));
    }

    void valuesOfARecording() {
        using Over = SweepScalar::Over;
        const RunData run = recorded({{0, {1, 2}}, {10, {2, 2}}, {100, {4, 1}}});
        QCOMPARE(value_in(run, alpha(Over::Last, When::First)), std::optional(2.0));
        QCOMPARE(value_in(run, alpha(Over::Mean, When::Last)), std::optional(2.5));
        QCOMPARE(value_in(run, alpha(Over::First, When::LastOverFirst)), std::optional(4.0));
        // The first entry goes 1 of 3 in the first fifth, the second none of 1.
        QCOMPARE(value_in(run, alpha(Over::Mean, When::EarlyShare)), std::optional(1.0 / 6));
        QVERIFY(!value_in(recorded({{0, {1}}}), alpha(Over::Mean, When::LastOverFirst)));
        QVERIFY(!value_in({}, alpha(Over::Mean, When::Last)));

        SweepRow row;
        row.final_loss = 1.5;
        QCOMPARE(value_in(run, {}, row), std::optional(1.5));
        GalleryQuantity held_out;
        held_out.kind = Kind::HeldOutLoss;
        QVERIFY(!value_in(run, held_out, row));
        row.held_out_loss = 1.75;
        QCOMPARE(value_in(run, held_out, row), std::optional(1.75));
        RunData spiky;
        spiky.events = {{3, "spike", ""}, {4, "knob", ""}, {9, "spike", ""}};
        GalleryQuantity spikes;
        spikes.kind = Kind::Events;
        spikes.column = "spike";
        QCOMPARE(value_in(spiky, spikes), std::optional(2.0));
    }

    /// Points of all cells and seeds; the factor moves x alone.
    void aScatterHasAPointOfEveryRun() {
        GalleryMeasure measure = measure_of(Effect::Scatter, Side::Above, 0);
        GalleryQuantity width, loss, events;
        width.kind = Kind::Key;
        width.column = "stack.d_model";
        events.kind = Kind::Events;
        events.column = "spike";
        measure.points = {{width, loss, 2}, {width, events, 1}};
        measure.statistic = ScatterStatistic::Slope;
        measure.of = measure.against = {};
        const GalleryEntry entry = entry_of({measure});
        QCOMPARE(entry.quantities().size(), std::size_t{3});
        std::map<std::size_t, GalleryValues> values;
        for (std::size_t run = 0; run < 6; ++run) {
            const double x = std::pow(2.0, double(run));
            values[run] = {x, 80 * x * x, 20 * x * x};  // the second pair is the line of the first one
        }
        GalleryFinding finding = gallery_findings(entry, values).front();
        QVERIFY(close(finding.effect.mean, 2));
        QVERIFY(close(finding.effect.low, 2) && close(finding.effect.high, 2));
        QCOMPARE(finding.seeds, std::size_t{3});
        QVERIFY(finding.verdict == GalleryVerdict::AsPaper);
        values[4] = {1, 0, 1};
        finding = gallery_findings(entry, values).front();
        QCOMPARE(finding.note, std::string("no logarithm of 1 points"));
        QVERIFY(finding.verdict == GalleryVerdict::NotMeasured);
    }

    void armsWithOtherBatchesAreNotCompared() {
        GalleryMeasure measure = measure_of(Effect::Difference, Side::Above, 0);
        measure.same_batches = true;
        const GalleryEntry entry = entry_of({measure});
        std::map<std::size_t, GalleryValues> values;
        for (std::size_t run = 0; run < 6; ++run)
            values[run] = {run < 3 ? 1.0 : 2.0 + 0.1 * double(run), 100.0 + double(run % 3)};
        QVERIFY(gallery_findings(entry, values).front().verdict == GalleryVerdict::AsPaper);
        values[4][1] = 7;
        GalleryFinding finding = gallery_findings(entry, values).front();
        QVERIFY(finding.verdict == GalleryVerdict::NotMeasured);
        QCOMPARE(finding.note, std::string("the arms had other batches"));
        values[4][1] = std::nullopt;  // a recording of an earlier version
        QVERIFY(gallery_findings(entry, values).front().verdict == GalleryVerdict::NotMeasured);
        values.erase(4);  // not ended: two seeds are compared
        QCOMPARE(gallery_findings(entry, values).front().seeds, std::size_t{2});
    }

    void numbersOfARun() {
        RunData run;
        run.steps.names = {"loss", "batch_hash"};
        run.steps.columns.resize(2);
        for (int step = 0; step < 6; ++step)
            run.steps.append({step, {{"loss", double(step * step)}, {"batch_hash", double(step)}}});
        GalleryQuantity tail;
        tail.kind = Kind::Tail;
        tail.column = "loss";
        tail.steps = 2;
        QCOMPARE(value_in(run, tail), std::optional(20.5));
        tail.steps = 7;
        QCOMPARE(value_in(run, tail), std::optional<double>());
        GalleryQuantity batches;
        batches.kind = Kind::Batches;
        const auto hash = value_in(run, batches);
        QVERIFY(hash && *hash >= 0);
        run.steps.columns[1][3] = 4;
        QVERIFY(value_in(run, batches) != hash);
        run.steps.names[1] = "other";
        QCOMPARE(value_in(run, batches), std::optional<double>());
        GalleryQuantity width;
        width.kind = Kind::Key;
        width.column = "stack.d_model";
        QCOMPARE(value_in(run, width), std::optional<double>());  // without a recipe
        run.recipe = Recipe();
        QCOMPARE(value_in(run, width), std::optional(double(Recipe().stack.d_model)));
    }

    /// A probe that another one follows five samples later, in a recording.
    void aLeadInARun() {
        RunData run;
        std::vector<double> noise(401);
        fill_normal_row({3, "lead"}, 0, 0, noise.size(), 1, noise.data());
        for (std::size_t step = 0; step < 400; ++step) {
            ProbeResult ahead, after;
            ahead.probe = "gates";
            after.probe = "growth";
            ahead.step = after.step = std::int64_t(step);
            ahead.arrays.push_back({"alpha", {2}, {noise[step], -9}, {"layer"}, "1"});
            after.arrays.push_back({"ma", {1}, {step < 5 ? 0.1 : noise[step - 5]}, {"hidden_state"}, "1"});
            run.probes["gates"].push_back(ahead);
            if (step != 17) run.probes["growth"].push_back(after);
        }
        GalleryQuantity lead;
        lead.kind = Kind::Lead;
        lead.ahead = {"gates", "alpha", SweepScalar::Over::Largest};
        lead.scalar = {"growth", "ma", SweepScalar::Over::Last};
        lead.largest_lag = 15;
        const auto value = [&](GalleryQuantity::LeadValue which) {
            lead.lead = which;
            return value_in(run, lead);
        };
        using Value = GalleryQuantity::LeadValue;
        QCOMPARE(value(Value::Lag), std::optional(5.0));
        QVERIFY(value(Value::Correlation).value() > 0.9);
        QCOMPARE(value(Value::Significant), std::optional(1.0));
        QVERIFY(value(Value::Precision).has_value());
        QVERIFY(close(value(Value::Lift).value(), *value(Value::Precision) / *value(Value::BaseRate)));
        lead.largest_lag = 20;  // too few samples
        QCOMPARE(value(Value::Lag), std::optional<double>());
    }

    /// What a figure draws: pairs of the same seed, points with their series, a scan for each seed.
    void figuresHaveTheValuesOfTheRuns() {
        const std::vector<double> losses{1, 2, 3, 4, 5, 6};
        GalleryMeasure difference = measure_of(Effect::Difference, Side::Above, 0),
                       value = measure_of(Effect::Value, Side::Above, 0), scatter = difference, lead = value;
        scatter.effect = Effect::Scatter;
        scatter.of = scatter.against = {};
        scatter.points = {{scatter.quantity, scatter.quantity, 0.5}};
        lead.quantity.kind = Kind::Lead;
        lead.quantity.largest_lag = 4;
        const GalleryEntry entry = entry_of({difference, value, scatter, lead});
        std::map<std::size_t, GalleryValues> values;
        for (std::size_t i = 0; i < losses.size(); ++i)
            if (i != 4) values[i] = GalleryValues(entry.quantities().size(), losses[i]);
        LeadScan scan;
        scan.level = 0.25;
        const auto measured =
            measure_values(entry, Cells(entry, values, {}), {{3, {scan}}, {0, {LeadScan()}}});
        QCOMPARE(measured.size(), std::size_t{4});
        QCOMPARE(measured[0].pairs.size(), std::size_t{2});  // seed 43 of post has not ended
        QCOMPARE(measured[0].pairs[1].seed, std::uint64_t{44});
        QCOMPARE(measured[0].pairs[1].of, 6.0);
        QCOMPARE(measured[0].pairs[1].against, 3.0);
        QCOMPARE(measured[1].pairs.size(), std::size_t{2});
        QVERIFY(std::isnan(measured[1].pairs[0].against) && measured[1].pairs[0].of == 4);
        QCOMPARE(measured[2].points.size(), std::size_t{5});
        QCOMPARE(measured[2].points.front().x, 0.5);
        QCOMPARE(measured[2].points.front().series, std::string("final loss, stack.scheme=pre"));
        QCOMPARE(measured[3].scans.size(), std::size_t{1});  // that of post alone
        QCOMPARE(measured[3].scans[0].seed, std::uint64_t{42});
        QCOMPARE(measured[3].scans[0].scan.level, 0.25);
    }

    void texts() {
        GalleryMeasure measure = measure_of(Effect::Difference, Side::Above, 0);
        measure.unit = "nat";
        measure.paper = 0.6;
        QCOMPARE(gallery_paper_text(measure), std::string("> 0, +0.6 nat"));
        const auto finding = finding_of(measure, {0, 0, 0, 1.0, 1.1, 0.9});
        QCOMPARE(gallery_effect_text(measure, finding), std::string("+1 nat [+0.752, +1.25], 3 seeds"));
    }

    void aFolderThatIsNotThere() {
        QTemporaryDir folder;
        const auto result =
            read_gallery_result(entry_of({measure_of(Effect::Difference, Side::Above, 0)}),
                                folder.filePath("none").toStdString(), [](const auto& work) { work(); });
        QCOMPARE(result.ended, std::size_t{0});
        QCOMPARE(result.total, std::size_t{6});
        QVERIFY(result.findings.front().verdict == GalleryVerdict::NotMeasured);
    }
};

NORMSCOPE_TEST(FindingsTest)
#include "findings_test.moc"
