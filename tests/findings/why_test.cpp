// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences of a Why card: to be read aloud, each with its number at its step.
#include "core/findings/why.h"

#include "core/findings/remedies.h"
#include "core/findings/watched.h"
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "core/train/bad_place.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QRegularExpression>
#include <QtTest>

using namespace normscope;

namespace {

QStringList texts(const WhyCard& card) {
    QStringList lines;
    for (const WhyLine& line : card.lines) lines << QString::fromStdString(line.text);
    return lines;
}

/// The first sentence that is too long or has a sign that is not read aloud; empty: none.
QString unreadable(const WhyCard& card) {
    static const QRegularExpression signs("[÷×‖∂→·|≠<>_]|\\bnan\\b|\\binf\\b");
    QStringList all = texts(card);
    for (const std::string& more : {card.not_measured, card.false_alarms})
        if (!more.empty()) all << QString::fromStdString(more);
    for (const QString& line : all) {
        if (!line.endsWith(u'.') || line.contains(signs)) return line;
        for (const QString& sentence : line.split(". "))
            if (sentence.split(u' ').size() > kMaxWords) return sentence;
    }
    return {};
}

RunData trained(const char* preset, const std::vector<std::string>& settings) {
    Recipe recipe = load_recipe(preset, settings);
    complete_and_validate(recipe);
    Experiment experiment(recipe, "a", "A run");
    RunData run = experiment.header();
    ThreadPool pool(2);
    while (!experiment.ended()) append(run, experiment.advance(pool));
    return run;
}

}  // namespace

class WhyTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aStalledRun() {
        RunData r = sample::stalled(2.88);
        sample::add(r, "gradients", 0, {sample::vector("hidden", {1, 1, 4, 1, 2})});
        sample::add(r, "gradients", 8, {sample::vector("hidden", {1, 1, 4e-9, 1, 2})});
        sample::add(
            r, "residual", 0,
            {sample::vector("grad_norm", {9, 9, 1, 0.9}), sample::vector("grad_branch", {9, 9, 1, 1}),
             sample::vector("branch_ratio", {1, 1, 1, 1}), sample::vector("branch_cosine", {0, 0, 0, 0})});
        sample::add(
            r, "residual", 5,
            {sample::vector("grad_norm", {9, 9, 1e-3, 2e-2}), sample::vector("grad_branch", {9, 9, 1, 1}),
             sample::vector("branch_ratio", {1, 1, 1, 1}), sample::vector("branch_cosine", {0, 0, 0, 0})});
        sample::add(r, "gradients", 5, {sample::vector("hidden", {1, 1, 4e-6, 1, 2})});
        std::sort(r.probes["gradients"].begin(), r.probes["gradients"].end(),
                  [](const auto& a, const auto& b) { return a.step < b.step; });
        const WhyCard card = why(r);
        QCOMPARE(
            texts(card),
            QStringList({"From step 180 to 199 the loss stayed at 2.88 nat. Token frequencies alone give "
                         "2.87.",
                         "It began at step 5. Then 2 of 8 quantities were outside the range of runs that "
                         "learn.",
                         "The gradient of layer 1 moved first. At step 5 it was 500 thousand times smaller "
                         "than the last layer's. At step 0 it was 2.0 times larger."}));
        QCOMPARE(card.lines[2].panel, std::string("gradients"));
        QCOMPARE(card.lines[2].evidence.step, 5);
        QCOMPARE(QString::fromStdString(card.not_measured),
                 "Not measured: attention, tokens, updates; which of these moves is the cause.");
        QCOMPARE(unreadable(card), QString());
    }

    /// Scrubbed to a step before, the card has what was known by then.
    void beforeTheOutcome() {
        RunData r = sample::stalled(2.88);
        sample::add(r, "gradients", 0, {sample::vector("hidden", {1, 1, 4, 1, 2})});
        sample::add(r, "gradients", 5, {sample::vector("hidden", {1, 1, 4e-6, 1, 2})});
        QCOMPARE(why(r, 4).lines.size(), std::size_t(0));
        QCOMPARE(why(r, 5).lines.size(), std::size_t(2));
        QCOMPARE(why(r).lines.size(), std::size_t(3));
        r.outcome.state = RunState::Finished;
        QCOMPARE(why(r).lines.size(), std::size_t(0));
    }

    void badValues_data() {
        QTest::addColumn<QString>("operation");
        QTest::addColumn<int>("layer");
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        const double none = std::nan("");
        QTest::newRow("residual")
            << "attn.residual_add" << 0 << -132423.0
            << "At step 7 the residual sum of layer 1's attention reached −132,423 in row 0. FP16 "
               "ends at 65,504.";
        QTest::newRow("scores")
            << "attn.scores" << 2 << 70130.0
            << "At step 7 an attention score of layer 3 reached 70,130 in row 0. FP16 ends at 65,504.";
        QTest::newRow("gradient") << "gradient of attn.wo" << 1 << none
                                  << "At step 7 the gradient of attn.wo in layer 2 became infinite.";
        QTest::newRow("head") << "head" << -1 << none << "At step 7 head became infinite.";
    }
    void badValues() {
        QFETCH(QString, operation);
        QFETCH(int, layer);
        QFETCH(double, value);
        QFETCH(QString, text);
        BadPlace bad;
        bad.step = 7;
        bad.row = 0;
        bad.layer = layer;
        bad.operation = operation.toStdString();
        bad.value = value;
        if (std::isfinite(value)) bad.limit = 65504;
        bad.result = "inf";
        RunData r = sample::stalled(2.88);
        r.outcome = {RunState::Diverged, 7, bad_place_text(bad), layer};
        QCOMPARE(texts(why(r)).value(0), text);
        QCOMPARE(unreadable(why(r)), QString());
    }

    /// Real runs that fail: numbers of the card are those of the recording.
    void realRuns_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("stalled") << QStringList{"steps=120", "optimizer.lr=0.003"};
        QTest::newRow("large rate") << QStringList{"steps=120", "optimizer.lr=1"};
        QTest::newRow("fp16") << QStringList{"steps=30", "precision=fp16", "stack.residual_step=1e5"};
    }
    void realRuns() {
        QFETCH(QStringList, settings);
        std::vector<std::string> set{"stack.d_model=32", "batch=4"};
        for (const QString& setting : settings) set.push_back(setting.toStdString());
        const RunData run = trained("post-ln", set);
        QVERIFY2(has_failed(run.outcome), run_state_word(run.outcome.state));
        const WhyCard card = why(run);
        QVERIFY(!card.lines.empty());
        for (const WhyLine& line : card.lines) qInfo("%s", line.text.c_str());
        qInfo("%s %s", card.not_measured.c_str(), card.false_alarms.c_str());
        QCOMPARE(unreadable(card), QString());
        for (std::int64_t step = 0; step <= run.steps.step.back(); ++step)
            QCOMPARE(unreadable(why(run, step)), QString());
        const auto left = departures(run, run.steps.step.back());
        QCOMPARE(card.lines.size(), left.empty() ? std::size_t(1) : std::size_t(3));
        if (left.empty()) return;
        QCOMPARE(card.lines[2].evidence.step, left.front().step);
        QCOMPARE(card.lines[2].evidence.value, left.front().value);
        QVERIFY(card.lines[2].text.find("step " + std::to_string(left.front().step)) != std::string::npos);
    }
};

NORMSCOPE_TEST(WhyTest)
#include "why_test.moc"
