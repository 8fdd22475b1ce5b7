// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/diagnosis.h"

#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData stalled() {
    RunData r = syn::run("Post-LN", R"({"precision": "fp64"})");
    r.unigram_entropy = 3.09;
    r.steps.names = {"loss"};
    r.steps.columns.resize(1);
    for (int i = 1; i <= 200; ++i) {
        r.steps.step.push_back(i);
        r.steps.columns[0].push_back(i <= 100 ? 5.0 : 3.1);
    }
    r.outcome = {RunState::Stalled, 200, "", -1};
    syn::add(r, "gradients", 200, {syn::vector("hidden", {1, 1, 4e-9, 1, 1})});
    syn::add(r, "null_space", 200, {syn::vector("gain", {0.01, 0.04, 7})},
             {{"sites", {"blocks.0.attn.norm_post", "blocks.0.ffn.norm_post", "final_norm"}}});
    syn::add(r, "growth", 200, {syn::vector("rms", {1, 1, 1, 1, 50})});
    syn::add(r, "jacobian", 200,
             {syn::vector("end_to_end_sv", {2, 1, 0, 0}), syn::array("end_to_end_exact_nulls", {}, {2})});
    syn::add(r, "theta", 200, {syn::array("below_099", {1, 2}, {0.002, 0.004})});
    return r;
}

}  // namespace

class DiagnosisTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aStalledRun() {
        QCOMPARE(
            diagnose(stalled(), 200),
            QStringList(
                {"Post-LN stalled at the unigram entropy, 3.09 nat: its loss is 3.1",
                 "From layer 2 to layer 1 the gradient shrinks to 4e-9 of its size",
                 "Every post norm multiplies the gradient by 1/σ_ε, here 0.02 on average: 2 of them make "
                 "0.0004",
                 "The hidden state grows along the depth: RMS 1 at the embedding, 50 after layer 2",
                 "The end-to-end Jacobian of the last token has σ from 1 to 2, 2 exact nulls among 4",
                 "θ is near 1 in almost every attention row: attention has not committed"}));
    }

    void beforeItsEndARunHasOnlyReachedALoss() {
        QCOMPARE(diagnose(stalled(), 100),
                 QStringList{"Post-LN reached a loss of 5 nat, 1.9 above the unigram entropy"});
    }

    void aHealthyRunSaysLittle() {
        RunData r = syn::run("Pre-LN");
        r.outcome = {RunState::Finished, 200, "", -1};
        syn::add(r, "gradients", 0, {syn::vector("hidden", {1, 1, 0.5, 1, 1})});
        syn::add(r, "growth", 0, {syn::vector("rms", {1, 1, 1, 1, 4})});
        syn::add(r, "jacobian", 0, {syn::vector("end_to_end_sv", {2, 1, 0.5, 0.1})});
        QCOMPARE(diagnose(r, 0), QStringList{"The gradient reaches layer 1 at 0.5 of its size in layer 2"});
    }

    void aDivergedRunWithoutProbes() {
        RunData r = syn::run("No norm");
        r.outcome = {RunState::Diverged, 12, "step 12 · L7 ffn.w2 · inf", 6};
        QCOMPARE(diagnose(r, 12), QStringList{"No norm diverged: step 12 · L7 ffn.w2 · inf"});
        QVERIFY(diagnose(syn::run("empty"), 0).isEmpty());
    }

    void explodingAndNonFiniteGradients() {
        RunData r = syn::run("A");
        syn::add(r, "gradients", 0, {syn::vector("hidden", {1, 1, 2e6, 1, 1})});
        syn::add(r, "gradients", 1, {syn::vector("hidden", {1, 1, INFINITY, 1, 1})});
        QCOMPARE(diagnose(r, 0), QStringList{"From layer 2 to layer 1 the gradient grows 2e6-fold"});
        QCOMPARE(diagnose(r, 1),
                 QStringList{"The gradient of the hidden states is not finite in every layer"});
    }
};

QTEST_GUILESS_MAIN(DiagnosisTest)
#include "diagnosis_test.moc"
