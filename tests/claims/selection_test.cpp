// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run whose probes measured selected places alone: what needs the others is unknown, nothing is
// concluded from NaN.
#include "core/claims/claims.h"
#include "core/claims/initial_input.h"
#include "core/findings/findings.h"
#include "core/findings/watched.h"
#include "core/run/complete_run.h"
#include "core/run/probes_preset.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

RunData run_of(const std::string& scheme, const std::string& only, bool gates = false) {
    Recipe recipe =
        parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 2, "steps": 8,
        "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12, "scheme": ")" +
                         scheme + R"(", "gpas": {"enabled": )" + (gates ? "true" : "false") + "}}}",
                     "test");
    complete_and_validate(recipe);
    recipe.probes.clear();
    for (const char* probe : {"growth", "gradients", "residual", "updates", "attention", "tokens", "theta",
                              "lipschitz", "weights", "importance", "gates", "jacobian"})
        recipe.probes.push_back({probe, 4});
    select_places(recipe.probes, PlaceSelection::parse(only, "only"));
    ThreadPool pool(1);
    return complete_run(recipe, "run", pool);
}

ClaimResult result_of(const char* claim, const RunData& run) {
    ThreadPool pool(1);
    const auto input = initial_claim_input(*run.recipe.get(), pool, nullptr, nullptr, &run);
    return check_claim(*find_claim(claim), *input);
}

}  // namespace

class SelectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aClaimThatNeedsOtherPlacesIsUnknown_data() {
        QTest::addColumn<QString>("claim");
        QTest::addColumn<bool>("gates");
        for (const char* claim : {"E21", "E32", "E33", "G11", "G12", "G13"})
            QTest::newRow(claim) << claim << false;
        for (const char* claim : {"G07", "G08"}) QTest::newRow(claim) << claim << true;
    }
    void aClaimThatNeedsOtherPlacesIsUnknown() {
        QFETCH(QString, claim);
        QFETCH(bool, gates);
        const std::string id = claim.toStdString();
        const char* scheme = gates ? "pre" : "post";
        const ClaimResult whole = result_of(id.c_str(), run_of(scheme, "", gates)),
                          part = result_of(id.c_str(), run_of(scheme, "blocks.0", gates)),
                          both = result_of(id.c_str(), run_of(scheme, "embedding, blocks", gates));
        QVERIFY2(whole.verdict != ClaimVerdict::Unknown, whole.detail.c_str());
        QCOMPARE(part.verdict, ClaimVerdict::Unknown);
        QVERIFY2(part.detail.find("only blocks.0") != std::string::npos, part.detail.c_str());
        // All of its entries are selected.
        QCOMPARE(both.verdict, whole.verdict);
        QCOMPARE(both.value, whole.value);
    }

    /// What reads the steps or the growth alone does not depend on the selection.
    void otherClaimsAreUnchanged() {
        const RunData whole = run_of("post", ""), part = run_of("post", "blocks.0");
        for (const char* claim : {"E30", "E31", "G09"})
            QCOMPARE(result_of(claim, part).verdict, result_of(claim, whole).verdict);
    }

    void findingsConcludeNothingFromNaN() {
        RunData part = run_of("post", "blocks.0"), whole = run_of("post", "");
        const auto has = [](const RunData& run, FindingKind kind) {
            for (const Finding& finding : findings(run, 8))
                if (finding.kind == kind) return true;
            return false;
        };
        for (const FindingKind kind : {FindingKind::Gradient, FindingKind::Factors}) {
            QVERIFY(has(whole, kind));
            QVERIFY(!has(part, kind));
        }
        for (const Finding& finding : findings(part, 8)) {
            QVERIFY2(finding.text.find("not finite") == std::string::npos, finding.text.c_str());
            if (finding.kind == FindingKind::Theta)
                QVERIFY2(finding.text.find("blocks.0, 2 of 6 heads") != std::string::npos,
                         finding.text.c_str());
        }
        QVERIFY(has(part, FindingKind::Theta));
        // A sub-layer far outside its start: a departure of the stack, not one of selected places.
        for (RunData* run : {&whole, &part}) {
            run->outcome.state = RunState::Diverged;
            for (NamedArray& array : run->probes.at("residual").back().arrays)
                for (double& v : array.data) v *= 1e6;
        }
        QVERIFY(!departures(whole, 8).empty());
        QVERIFY(departures(part, 8).empty());
    }
};

NORMSCOPE_TEST(SelectionTest)
#include "selection_test.moc"
