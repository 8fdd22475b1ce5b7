// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/findings.h"

#include "core/findings/held_out_loss.h"
#include "core/findings/watched.h"
#include "core/train/overflow_event.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

QStringList sentences(const RunData& run, std::int64_t step) {
    QStringList lines;
    for (const Finding& finding : findings(run, step)) lines << QString::fromStdString(finding.text);
    return lines;
}

}  // namespace

class FindingsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aFailedRunIsReportedByItsNumbers() {
        RunData r = sample::stalled(2.86);
        sample::add(r, "gradients", 0, {sample::vector("hidden", {1, 1, 4, 1, 2})});
        sample::add(r, "gradients", 8, {sample::vector("hidden", {1, 1, 4e-9, 1, 2})});
        // Sub-layers 2 and 3 lie between the hidden states of layer 1 and layer 2.
        sample::add(
            r, "residual", 8,
            {sample::vector("grad_norm", {9, 9, 0.1, 0.02}), sample::vector("grad_shortcut", {9, 9, 1, 2}),
             sample::vector("grad_branch", {9, 9, 1e-3, 5e-4})});
        sample::add(r, "growth", 8, {sample::vector("rms", {1, 1, 1, 1, 50})});
        QCOMPARE(
            sentences(r, 199),
            QStringList({"Post-LN stalled: loss 2.86 nat",
                         "At step 8 the gradient is 500 million times smaller after layer 1 than after layer "
                         "2. At step 0 it was 2.0 times larger",
                         "On the way back from layer 2 to layer 1, at step 8, the norms made the gradient "
                         "500 times smaller. The shortcuts made it 2.0 times larger. The branches made it "
                         "2.0 million times smaller. Together they made it 500 million times smaller",
                         "Outside the range of runs that learn: at step 8 gradient, first over last layer, "
                         "from 2 to 2×10⁻⁹. " +
                             QString::fromStdString(false_alarms_text()),
                         "The hidden state grows along the depth. At step 8 its RMS is 1 at the embedding "
                         "and 50 after layer 2"}));
        sample::add(r, "transport", 0, {sample::vector("median_token", {1, 1, 0.14, 1, 1})});
        QCOMPARE(sentences(r, 199)[1],
                 QString("At step 8 the gradient is 500 million times smaller after layer 1 than after layer "
                         "2. At step 0 it was 2.0 times larger, for the median token 7.1 times smaller"));
        sample::add(r, "transport", 8, {sample::vector("median_token", {1, 1, 3e-9, 1, 1})});
        QVERIFY(
            sentences(r, 199)[1].contains("than after layer 2. For the median token it is 333 million times "
                                          "smaller. At step 0 it was 2.0"));
        QCOMPARE(sentences(r, 100).front(), QString("Post-LN has a loss of 2.86 nat (mean of steps 81 to "
                                                    "100). That is 0.01 nat below the unigram entropy"));
        r.bigram_entropy = 2;
        QVERIFY(sentences(r, 100).front().endsWith(
            "below the unigram entropy and not below that of token pairs, 2"));
        r.bigram_entropy = 2.865;
        QVERIFY(sentences(r, 100).front().endsWith("and below that of token pairs, 2.87"));
    }

    /// The newest that was taken by then, of how many sequences, with its standard error; a recording of an
    /// earlier version has neither.
    void theHeldOutLossIsThatOfItsStep() {
        RunData r = sample::run("A");
        for (int i = 0; i < 8; ++i)
            r.steps.append({i,
                            {{"loss", 2.5},
                             {"val_loss", i % 3 == 0 ? 2 + 0.1 * i : std::nan("")},
                             {"val_loss_error", i % 3 == 0 ? 0.0213 : std::nan("")}}});
        QCOMPARE(held_out_loss(r)->loss, 2.6);
        QCOMPARE(held_out_loss(r)->sequences, 64);
        QCOMPARE(held_out_loss(r, 5)->step, std::int64_t{3});
        QCOMPARE(held_out_loss(r, 5)->loss, 2.3);
        QCOMPARE(
            sentences(r, 5).front(),
            QString("A has a loss of 2.5 nat (mean of steps 0 to 5). Held-out loss: 2.3 ± 0.021 nat at step "
                    "3, mean of 64 held-out sequences"));
        r.unigram_entropy = 2.9;
        r.bigram_entropy = 2;
        QVERIFY(
            sentences(r, 5).front().endsWith("that of token pairs, 2. Held-out loss: 2.3 ± 0.021 nat at "
                                             "step 3, mean of 64 held-out sequences"));
        r.steps.names[2] = "other";
        QCOMPARE(held_out_loss(r)->sequences, 0);
        QVERIFY(
            sentences(r, 5).front().endsWith(". Held-out loss: 2.3 nat at step 3, mean of the held-out "
                                             "sequences"));
        for (double& loss : r.steps.columns[1]) loss = std::nan("");  // validate.every is 0
        QVERIFY(!held_out_loss(r));
        QVERIFY(!sentences(r, 5).front().contains("held-out"));
    }

    void nothingIsCausedByWhatWasNotMeasured() {
        // The gain 1/σ of the norms alone was once given as the cause of a small gradient.
        RunData r = sample::run("Post-LN");
        r.outcome = {RunState::Stalled, 10, "loss 2.86 nat", -1};
        sample::add(r, "null_space", 10, {sample::vector("gain", {0.01, 0.04, 7})});
        QCOMPARE(sentences(r, 10), QStringList{"Post-LN stalled: loss 2.86 nat"});
    }

    void aFirstLossFarAboveAUniformGuess() {
        RunData r = sample::run("A");
        r.ln_vocab = 3.3;
        r.steps.names = {"loss"};
        r.steps.columns = {{30.2, 12}};
        r.steps.step = {0, 1};
        QCOMPARE(sentences(r, 1)[1], QString("The first loss is 30.2 nat, 26.9 above that of a uniform "
                                             "guess. The logits of the initial weights are far apart"));
        r.steps.columns[0][0] = 4.2;
        QCOMPARE(sentences(r, 1).size(), 1);
    }

    void skippedUpdates() {
        RunData r = sample::run("A");
        r.steps.names = {"loss"};
        r.steps.columns = {{3, 3, 3, 3}};
        r.steps.step = {0, 1, 2, 3};
        r.events = {{1, "overflow", "gradient"}, {2, "spike", "x"}, {3, "overflow", "gradient"}};
        QCOMPARE(
            sentences(r, 9).last(),
            QString(
                "2 updates were skipped by step 3. The scaled gradient overflowed FP16, first at step 1"));
        QCOMPARE(
            sentences(r, 2).last(),
            QString("1 update was skipped by step 2. The scaled gradient overflowed FP16, first at step 1"));
        QVERIFY(!sentences(r, 0).join("").contains("skipped"));
        QCOMPARE(overflow_text("", 256),
                 std::string("gradient overflows FP16 at loss scale 256: update left out"));
        QVERIFY(overflow_place(overflow_text("", 65536)).empty());
        r.events[0].text = overflow_text("layer 3 ffn.w2", 65536);
        r.events[2].text = overflow_text("head.weight", 32768);
        QVERIFY(sentences(r, 9).last().endsWith(
            "overflowed FP16, first at step 1, the gradient of layer 3 ffn.w2"));
    }

    void theOrderIsThatOfTheSteps() {
        RunData r = sample::run("Post-LN");
        r.outcome = {RunState::Collapsed, 3, "lost 0.4 nat", -1};
        for (int step = 0; step < 4; ++step) {
            const double far = step < 1 ? 1 : 1e-3, later = step < 3 ? 0.5 : 0.005;
            sample::add(r, "gradients", step, {sample::vector("hidden", {1, 1, far, 1, 1})});
            sample::add(r, "residual", step, {sample::vector("branch_ratio", {later, later, later, later})});
        }
        QCOMPARE(sentences(r, 3).last(),
                 QString("Outside the range of runs that learn: at step 1 gradient, first over last layer, "
                         "from 1 to 0.001; at step 3 branch over stream, from 0.5 to 0.005. ") +
                     QString::fromStdString(false_alarms_text()));
        const auto all = findings(r, 3);
        const auto departures = std::find_if(
            all.begin(), all.end(), [](const Finding& f) { return f.kind == FindingKind::Departures; });
        QVERIFY(departures != all.end());
        QCOMPARE(QString::fromStdString(departures->brief),
                 QString("Outside the range of runs that learn: at step 1 gradient, first over last layer, "
                         "from 1 to 0.001. 1 more left it later"));
        r.outcome.state = RunState::Finished;
        QVERIFY(!sentences(r, 3).join("").contains("Outside the range"));
    }

    void nullsAreThoseThatTheProbeCounted() {
        RunData r = sample::run("A");
        sample::add(r, "jacobian", 0, {sample::vector("end_to_end_sv", {2, 1, 1e-9, 0})});
        QVERIFY(sentences(r, 0).isEmpty());  // a small value alone is not a null
        r.probes["jacobian"].front().arrays.push_back(sample::vector("end_to_end_exact_nulls", {1}));
        QCOMPARE(sentences(r, 0),
                 QStringList{"The Jacobian of the whole stack at the last token has singular values from "
                             "10⁻⁹ to 2 at step 0. 1 of 4 is exactly zero"});
        // Values that float64 cannot distinguish from 0 are reported, not counted.
        r.probes["jacobian"].front().arrays.push_back(sample::vector("end_to_end_below_resolution", {1}));
        QCOMPARE(sentences(r, 0),
                 QStringList{"The Jacobian of the whole stack at the last token has singular values from 1 "
                             "to 2 at step 0. 1 of 4 is exactly zero. 1 of 4 is below float64's resolution"});
    }

    void thetaIsHeldAgainstAUniformRow() {
        RunData r = sample::run("A");
        sample::add(r, "theta", 0, {sample::vector("relative_below_099", {0.002, 0.004, NAN})});
        QCOMPARE(sentences(r, 0),
                 QStringList{"At step 0 θ, the softmax's sensitivity, is within 1 % of a uniform row's in "
                             "almost every row. Of 1 head it is not finite"});
        r.probes["theta"].front().arrays.front().data = {0.2, 0.4};
        QCOMPARE(sentences(r, 0), QStringList{"At step 0 θ, the softmax's sensitivity, is more than 1 % "
                                              "below a uniform row's in 30 % of rows"});
        r.probes["theta"].front().arrays.front().data = {NAN};
        QCOMPARE(sentences(r, 0), QStringList{"θ is not finite in any head at step 0"});
    }

    /// From 50 nat on, against step 0.
    void logitsThatMovedTogether() {
        RunData r = sample::run("A");
        const auto add = [&](std::int64_t step, double log_z) {
            sample::add(r, "gradients", step, {{"log_z", {}, {log_z}, {}, "nat"}});
        };
        add(0, 3.3);
        add(8, 53.2);
        QVERIFY(sentences(r, 8).isEmpty());
        add(16, -996.7);
        QCOMPARE(
            sentences(r, 20),
            QStringList{"The mean logit of the targets, log Z − loss, drifted by -1000 nat. Log Z is -996.7 "
                        "at step 16, 3.3 at step 0. A shift of all logits together changes no loss"});
        auto& arrays = r.probes["gradients"].back().arrays;
        arrays.push_back({"log_z_spread", {}, {0.52}, {}, "nat"});
        arrays.push_back({"max_logit", {}, {1003}, {}, "nat"});
        QVERIFY(sentences(r, 20).front().endsWith(
            "changes no loss. Over tokens it varies by 0.52; the logit farthest from 0 has a size of 1003"));
        r.probes["gradients"].erase(r.probes["gradients"].begin());  // it does not begin at step 0
        QVERIFY(sentences(r, 20).isEmpty());
    }

    /// log Z is the loss plus the mean logit of the targets: a model that is sure has both.
    void logitsThatAreShiftedFromTheStart() {
        RunData r = sample::run("A");
        sample::add(r, "gradients", 0, {{"log_z", {}, {1003.3}, {}, "nat"}});
        r.steps.names = {"loss"};
        r.steps.columns = {{3.3}};
        r.steps.step = {0};
        QCOMPARE(sentences(r, 0).last(),
                 QString("The mean logit of the targets, log Z − loss, is 1000 at step 0. Log Z is 1003 nat "
                         "at step 0. A shift of all logits together changes no loss"));
        // Far apart, not shifted.
        r.steps.columns[0][0] = 990;
        QVERIFY(!sentences(r, 0).join(' ').contains("og Z"));
        sample::add(r, "gradients", 9, {{"log_z", {}, {900}, {}, "nat"}});
        r.steps.step.push_back(9);
        r.steps.columns[0].push_back(880);
        QVERIFY(!sentences(r, 9).join(' ').contains("og Z"));
    }

    /// The group with the largest share; a trial update is not one of the run.
    void entriesBelowAdamsEps() {
        RunData r = sample::run("A");
        Recipe recipe;
        recipe.train.optimizer.clip = 1e-6;
        r.recipe = recipe;
        sample::add(r, "updates", 4, {sample::vector("under_eps", {0.2, 0.49, std::nan("")})});
        r.probes["updates"].back().labels["groups"] = {"embedding", "blocks.0.attn", "norms"};
        QVERIFY(sentences(r, 4).isEmpty());
        r.probes["updates"].back().arrays[0].data[1] = 0.75;
        QCOMPARE(sentences(r, 4),
                 QStringList{"Adam divides by ε, 10⁻⁸, in 75 % of the entries of layer 1 attn at step 4. "
                             "There the root of the second moment is below it"});
        r.steps.names = {"grad_norm"};
        r.steps.columns = {{3, 2, 1e-7}};
        r.steps.step = {0, 1, 2};
        QVERIFY(sentences(r, 4).last().endsWith(
            ". Clipping at 10⁻⁶ made the gradient 2.5×10⁶ times smaller (median of the clipped steps)"));
        // Names that a foreign file may have.
        for (const char* name : {"blocks.x.attn", "blocks.99999999999.attn", "blocks.", "blocks.3", ""}) {
            r.probes["updates"].back().labels["groups"][1] = name;
            QVERIFY2(sentences(r, 4).last().contains(QString(" of the entries of %1 at step 4").arg(name)),
                     name);
        }
        r.probes["updates"].back().labels["update"] = {"a trial"};
        QVERIFY(!sentences(r, 4).join(' ').contains("Adam divides"));
    }

    void gainsThatBlocksClamp() {
        RunData r = sample::run("A");
        sample::add(r, "mismatch", 4, {sample::vector("mxe4m3_gamma_clamped", {0.01, 0.04, std::nan("")})});
        r.probes["mismatch"].back().labels["sites"] = {"blocks.0.attn.norm_in", "blocks.0.ffn.norm_in",
                                                       "final_norm"};
        QVERIFY(sentences(r, 4).isEmpty());
        r.probes["mismatch"].back().arrays[0].data[1] = 0.375;
        QCOMPARE(sentences(r, 4),
                 QStringList{"γ of layer 1 ffn.norm_in in MX E4M3, at step 4: 38 % of its entries would be "
                             "clamped. They are above the largest number of their block of 32"});
        r.probes["mismatch"].back().labels["sites"].pop_back();  // a foreign file
        QVERIFY(sentences(r, 4).isEmpty());
    }

    /// 256² is above 65504, 255² is not. Gradients are no input of a norm.
    void squaresAboveTheLargestNumberOfHalf() {
        RunData r = sample::run("A");
        sample::add(r, "ranges", 4, {sample::vector("amax", {1e5, 255, 3})});
        r.probes["ranges"].back().labels["places"] = {"grad.hidden.0", "hidden.1", "hidden.2"};
        QVERIFY(sentences(r, 4).isEmpty());
        r.probes["ranges"].back().arrays[0].data[1] = 256;
        QCOMPARE(sentences(r, 4),
                 QStringList{"A norm that keeps its statistics in FP16 would overflow. The size of hidden "
                             "state 1 reaches 256 at step 4; its square is above 65504"});
    }

    void shortcutsThatCarryNextToNothing() {
        RunData r = sample::run("A");
        sample::add(r, "residual", 4, {sample::vector("shortcut_gain", {1e-9, 1, 0.1, 0.1, 0.2, 0.5})});
        QVERIFY(sentences(r, 4).isEmpty());  // 0.001 from layer 1 on
        sample::add(r, "residual", 8, {sample::vector("shortcut_gain", {36, 1, 0.1, 0.1, 0.02, 0.5})});
        QCOMPARE(sentences(r, 9),
                 QStringList{"Through shortcuts alone, at step 8, the signal of layer 1 is 10 thousand times "
                             "smaller at layer 3. In each of 4 sub-layers it is multiplied by 0.1: the "
                             "shortcut's factor over the σ of the norm after the sum"});
        r.probes["residual"].back().arrays[0].data[3] = NAN;  // a selection of places
        QVERIFY(sentences(r, 9).isEmpty());
    }

    void withoutProbesOnlyTheOutcomeIsReported() {
        RunData r = sample::run("No norm");
        r.outcome = {RunState::Diverged, 12, "step 12 · L7 ffn.w2 · inf", 6};
        QCOMPARE(sentences(r, 12), QStringList{"No norm diverged: step 12 · L7 ffn.w2 · inf"});
        QVERIFY(sentences(sample::run("empty"), 0).isEmpty());
    }
};

NORMSCOPE_TEST(FindingsTest)
#include "findings_test.moc"
