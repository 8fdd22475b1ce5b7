// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claims.h"

#include "core/base/error.h"
#include "core/claims/initial_input.h"
#include "core/probe/interface/probe_input.h"
#include "core/run/complete.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <set>

using namespace normscope;

namespace {

/// The public ids, by paper: a letter and how many.
constexpr struct {
    char letter;
    int count;
} kIds[] = {{'E', 37}, {'N', 15}, {'G', 18}, {'B', 14}, {'K', 22}};

std::vector<std::string> all_ids() {
    std::vector<std::string> ids;
    for (const auto& [letter, count] : kIds)
        for (int i = 1; i <= count; ++i)
            ids.push_back(letter + std::string(i < 10 ? "0" : "") + std::to_string(i));
    return ids;
}

/// Of a preset: each verdict as expected, or unknown with what it needs.
void check_preset(const char* preset) {
    ThreadPool pool;
    const auto input = initial_claim_input(read_recipe(preset), pool);
    int measured = 0;
    for (const Claim& claim : claims()) {
        const ClaimResult result = check_claim(claim, *input);
        const QString where = QString("%1 %2: %3 (%4)")
                                  .arg(preset, claim.id, claim_verdict_word(result.verdict),
                                       QString::fromStdString(result.detail));
        QVERIFY2(!result.detail.empty(), qPrintable(where));
        QVERIFY2(QString::fromStdString(result.detail).count('\n') == 0, qPrintable(where));
        if (result.verdict == ClaimVerdict::Unknown) {
            QVERIFY2(result.detail.starts_with("needs "), qPrintable(where));
            continue;
        }
        QVERIFY2(result.verdict == claim.expected, qPrintable(where));
        measured += result.verdict != ClaimVerdict::NotApplicable;
        if (result.verdict == ClaimVerdict::NotApplicable || result.verdict == ClaimVerdict::Toy) continue;
        QVERIFY2(result.samples > 0, qPrintable(where));
        QVERIFY2(!std::isnan(result.value) && !std::isnan(result.residual), qPrintable(where));
    }
    QVERIFY2(measured >= 60, qPrintable(QString::number(measured)));
}

class ClaimsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyIdOccursOnceInOrder() {
        const std::vector<std::string> ids = all_ids();
        QCOMPARE(ids.size(), std::size_t{106});
        QCOMPARE(claims().size(), ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) QCOMPARE(std::string(claims()[i].id), ids[i]);
    }

    void everyRowIsComplete() {
        std::set<std::string> statements;
        for (const Claim& claim : claims()) {
            QVERIFY2(std::string(claim.statement).size() > 4, claim.id);
            QVERIFY2(statements.insert(claim.statement).second, claim.id);
            QVERIFY2(*claim.number != 0, claim.id);
            QVERIFY2(claim.expected != ClaimVerdict::Unknown, claim.id);
            QVERIFY2(*claim_paper(claim) != 0, claim.id);
            QVERIFY2(find_claim(claim.id) == &claim, claim.id);
        }
        QVERIFY(!find_claim("E38"));
    }

    /// A knob is a key that the recipe has.
    void knobsAreKeysOfTheRecipe() {
        for (const Claim& claim : claims()) {
            if (*claim.knob == 0) continue;
            const std::string json = recipe_json(read_recipe("pre-ln"), -1), key = claim.knob;
            const std::string last = "\"" + key.substr(key.rfind('.') + 1) + "\":";
            QVERIFY2(json.find(last) != std::string::npos, claim.knob);
        }
    }

    void selectionTakesIdsAndLetters() {
        QCOMPARE(selected_claims({}, "x").size(), claims().size());
        const auto some = selected_claims({"N", "E03"}, "x");
        QCOMPARE(some.size(), std::size_t{16});
        QCOMPARE(std::string(some.front()->id), std::string("E03"));
        QCOMPARE(std::string(some.back()->id), std::string("N15"));
        for (const char* bad : {"", "e03", "E38", "X", "E3", "E03 "}) try {
                selected_claims({bad}, "--only");
                QFAIL(bad);
            } catch (const InputError& error) {
                QCOMPARE(QString(error.what()),
                         QString("--only: \"%1\" is not a claim, allowed: E01 … E37, N01 … N15, G01 … G18, "
                                 "B01 … B14, K01 … K22, or a paper's letter alone")
                             .arg(bad));
            }
    }

    void preLnIsAsExpected() { check_preset("pre-ln"); }

    void cancellingStopsACheck() {
        ThreadPool pool(1);
        std::atomic<bool> cancel{false};
        const auto input = initial_claim_input(read_recipe("pre-ln"), pool, nullptr, &cancel);
        cancel = true;
        QVERIFY_EXCEPTION_THROWN(check_claim(*find_claim("E05"), *input), Cancelled);
    }

    /// A wide stack keeps what needs no dense map, and names what the others need.
    void aWideStackNamesWhatItNeeds() {
        ThreadPool pool;
        const auto input = initial_claim_input(read_recipe("pre-ln", {"stack.d_model=1032", "stack.heads=2",
                                                                      "stack.depth=1", "stack.context=8"}),
                                               pool);
        const ClaimResult map = check_claim(*find_claim("N09"), *input);
        QCOMPARE(map.verdict, ClaimVerdict::Unknown);
        QVERIFY2(map.detail.starts_with("needs "), map.detail.c_str());
        QCOMPARE(check_claim(*find_claim("E05"), *input).verdict, ClaimVerdict::Holds);
    }
};

}  // namespace

NORMSCOPE_TEST(ClaimsTest)
#include "claims_test.moc"
