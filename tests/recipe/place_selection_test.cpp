// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/place_selection.h"

#include "core/base/error.h"
#include "core/recipe/keys.h"
#include "core/recipe/recipe.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

std::string problem_of(const std::string& text, int depth = 12) {
    try {
        PlaceSelection::parse(text, "probes[2].only").check(depth, "probes[2].only");
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

std::string message_of(const std::string& json) {
    try {
        parse_recipe(json, "a.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

const std::string kRecipe = R"({"format":"normscope-recipe","version":1,"probes":[{"id":"theta","every":5)";

}  // namespace

class PlaceSelectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void patternsSelectWhatTheyMatchAndWhatIsInside_data() {
        QTest::addColumn<QString>("patterns");
        QTest::addColumn<QString>("place");
        QTest::addColumn<bool>("selected");
        const struct {
            const char *patterns, *place;
            bool selected;
        } cases[] = {{"", "blocks.3", true},
                     {"  ", "head", true},
                     {"blocks.3", "blocks.3", true},
                     {"blocks.3", "blocks.3.attn.norm_in.weight", true},
                     {"blocks.3", "blocks.30", false},
                     {"blocks.3", "blocks.3x", false},
                     {"blocks.3", "block", false},
                     {"blocks.3.attn", "blocks.3", false},
                     {"blocks.3.attn", "blocks.3.attn.wq", true},
                     {"blocks.3.attn", "blocks.3.ffn", false},
                     {"blocks.11.*", "blocks.11.ffn", true},
                     {"blocks.11.*", "blocks.11", false},
                     {"blocks.*.norm_in", "blocks.7.ffn.norm_in", true},
                     {"blocks.*.norm_in", "blocks.7.ffn.norm_in.bias", true},
                     {"blocks.*.norm_in", "blocks.7.ffn.norm_out", false},
                     {"blocks.[0-3]", "blocks.2.attn", true},
                     {"blocks.[0-3]", "blocks.4.attn", false},
                     {"blocks.[!0]", "blocks.0", false},
                     {"blocks.?", "blocks.11", false},
                     {"blocks.0 ,\tblocks.1", "blocks.1", true},
                     {"head, blocks.1", "blocks.0", false},
                     {"final_norm", "final_norm.weight", true}};
        for (const auto& c : cases)
            QTest::addRow("%s: %s", c.patterns, c.place)
                << QString(c.patterns) << QString(c.place) << c.selected;
    }
    void patternsSelectWhatTheyMatchAndWhatIsInside() {
        QFETCH(QString, patterns);
        QFETCH(QString, place);
        QFETCH(bool, selected);
        const auto selection = PlaceSelection::parse(patterns.toStdString(), "only");
        QCOMPARE(selection.contains(place.toStdString()), selected);
    }

    void badInputIsNamedInOneLine_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("names");
        QTest::newRow("empty pattern") << "blocks.0,,blocks.1"
                                       << "an empty pattern";
        QTest::newRow("comma alone") << ","
                                     << "an empty pattern";
        QTest::newRow("space inside") << "blocks. 0"
                                      << "a character that no name has";
        QTest::newRow("line end") << "blocks.0\nblocks.1"
                                  << "a character that no name has";
        QTest::newRow("beyond ASCII") << "blöcke"
                                      << "a character that no name has";
        QTest::newRow("too long") << QString(65, '*') << "65 characters, allowed: at most 64";
        QTest::newRow("unknown layer") << "blocks.0, blocks.12"
                                       << "\"blocks.12\" selects no place of this stack";
        QTest::newRow("unknown tensor") << "blocks.0.attn.w7"
                                        << "selects no place";
        QTest::newRow("open bracket") << "blocks.[0-3"
                                      << "selects no place";
        QTest::newRow("counted from 1") << "layer 1"
                                        << "a character";
    }
    void badInputIsNamedInOneLine() {
        QFETCH(QString, text);
        QFETCH(QString, names);
        const QString problem = QString::fromStdString(problem_of(text.toStdString()));
        QVERIFY2(problem.startsWith("probes[2].only: ") && problem.contains(names) &&
                     problem.contains(", allowed: ") && !problem.contains('\n'),
                 qPrintable(problem));
    }

    /// Every tensor, norm site and group of any stack is a place; so is what another scheme has.
    void namesOfAnySchemeAreAccepted() {
        for (const char* text : {"blocks.11.attn.norm_post", "blocks.0.gate", "blocks.0.ffn.w_up", "emb_norm",
                                 "blocks.*.scale", "blocks.0.attn.q_norm.weight", "embedding", "norms",
                                 "scales", "head", "head.weight", "tok_emb", "*", "blocks"})
            QVERIFY2(problem_of(text).empty(), text);
    }

    void patternsOutsideASmallerDepthAreDropped() {
        const auto selection = PlaceSelection::parse("blocks.0, blocks.9,blocks.1?", "only");
        QCOMPARE(selection.within(12).text(), std::string("blocks.0, blocks.9, blocks.1?"));
        QCOMPARE(selection.within(4).text(), std::string("blocks.0"));
        QVERIFY(PlaceSelection::parse("blocks.9", "only").within(4).everything());

        Recipe recipe = parse_recipe(kRecipe + R"(,"only":"blocks.9, blocks.0"}]})", "a");
        recipe_key("stack.depth").set(recipe, std::uint64_t{4});
        QCOMPARE(recipe.probes[0].only, std::string("blocks.0"));
    }

    /// A recipe without the key has the same text as before there was one, and reads the same.
    void theKeyIsWrittenWhereItIsPresent() {
        const Recipe without = parse_recipe(kRecipe + "}]}", "a"),
                     with = parse_recipe(kRecipe + R"(,"only":"blocks.0, blocks.*.norm_in"}]})", "a");
        QVERIFY2(recipe_json(without).find("only") == std::string::npos, recipe_json(without, -1).c_str());
        const std::string probe = R"("probes":[{"id":"theta","every":5}])";
        QVERIFY2(recipe_json(without, -1).ends_with(probe + "}"), recipe_json(without, -1).c_str());
        QVERIFY(without == parse_recipe(recipe_json(without), "a"));

        QCOMPARE(with.probes[0].only, std::string("blocks.0, blocks.*.norm_in"));
        QVERIFY(with == parse_recipe(recipe_json(with), "a"));
        QVERIFY(recipe_json(with, -1).find(R"("only":"blocks.0, blocks.*.norm_in"})") != std::string::npos);
        QVERIFY(!same_recipe(with, without));
        QVERIFY(with_key_of(without, with, "probes") == with);
    }

    void anotherFormOfTheKeyIsRejected() {
        const std::string message = message_of(kRecipe + R"(,"only":["blocks.0"]}]})");
        QVERIFY2(message.find("probes[0].only") != std::string::npos, message.c_str());
    }
};

NORMSCOPE_TEST(PlaceSelectionTest)
#include "place_selection_test.moc"
