// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/strict_json.h"

#include "core/base/error.h"
#include "core/base/json_object.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using nlohmann::json;

namespace {

std::string nested(std::size_t depth, const std::string& inside = "") {
    return std::string(depth, '[') + inside + std::string(depth, ']');
}

/// The message with which a text is rejected; empty: it is read.
template <class Read>
std::string rejection(Read&& read) {
    try {
        read();
        return {};
    } catch (const InputError& error) {
        return error.what();
    }
}

}  // namespace

class StrictJsonTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void readsWhatTheLibraryReads() {
        for (const char* text :
             {"0", "-1", "18446744073709551615", "1e-400", "\"a\\n\\u00e4\"", "[]", "{}", "null",
              " [1, [2.5, {\"a\": {\"b\": [true]}}]] ", "{\"b\": 1, \"a\": [{\"b\": 1}, {\"b\": 2}]}"}) {
            QCOMPARE(strict_json(text, "t"), json::parse(text));
            QCOMPARE(strict_ordered_json(text, "t").dump(), nlohmann::ordered_json::parse(text).dump());
        }
        QCOMPARE(strict_json(nested(kDeepestJson), "t"), json::parse(nested(kDeepestJson)));
    }

    void rejects_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, const std::string& text, const std::string& message) {
            QTest::newRow(name) << text << "t: " + message;
        };
        row("empty", "", "not valid JSON at byte 1");
        row("cut", R"({"stack": {"depth": )", "not valid JSON at byte 21, in stack.depth");
        row("in a list", R"({"a": [1, {"b": 2}, x]})", "not valid JSON at byte 21, in a[2]");
        row("bytes after it", "{} {}", "not valid JSON at byte 4");
        row("comment", "{} // end", "not valid JSON at byte 4");
        row("NaN", R"({"a": NaN})", "not valid JSON at byte 7, in a");
        row("NUL after it", std::string("{}\0{", 4), "has a NUL at byte 3, allowed: text without it");
        row("NUL in a text", R"({"a": ["\u0000"]})", "a[0]: has a NUL in its text, allowed: text without it");
        row("not UTF-8", "\"\xff\"", "is not valid UTF-8 at byte 2, allowed: text in UTF-8");
        row("overlong", "\"\xc0\xaf\"", "is not valid UTF-8 at byte 2");
        row("surrogate", "\"\xed\xa0\x80\"", "is not valid UTF-8 at byte 2");
        row("cut character", "\"\xe2\x88", "is not valid UTF-8 at byte 2");
        row("twice", R"({"a": {"b": 1, "c": 2, "b": 3}})", "a: \"b\" appears twice, allowed: each key once");
        row("twice, in other letters", R"({"b": 1, "\u0062": 3})", "\"b\" appears twice");
        row("key of two lines", R"({"a": {"b\nc": 1}})",
            "a: the key \"b\\nc\" has control characters, allowed: printable keys");
        row("too large", R"({"a": [0, 1e999]})",
            "a[1]: the number 1e999 is out of range, allowed: magnitudes up to 1.8e308");
        row("too small", "-1e999", "the number -1e999 is out of range");
        row(
            "too deep", R"({"a": )" + nested(kDeepestJson) + "}", "a" + [] {
                std::string path;
                for (int i = 1; i < kDeepestJson; ++i) path += "[0]";
                return path;
            }() + ": is nested deeper than 32 levels, allowed: at most 32");
        row("hostile", nested(2'000'000), "[0][0]");
        row("never closed", std::string(2'000'000, '['), "[0][0]");
        std::string objects;
        for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
        row("objects", objects, "a.a.a.");
    }
    void rejects() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        for (const bool ordered : {false, true}) {
            const std::string found = rejection(
                [&] { ordered ? void(strict_ordered_json(text, "t")) : void(strict_json(text, "t")); });
            QVERIFY2(found.rfind(message, 0) == 0, found.c_str());
            QVERIFY(found.find('\n') == std::string::npos);
        }
    }

    void aValueIsJsonOrAWord() {
        QCOMPARE(json_or_word("24", "t"), json(24));
        QCOMPARE(json_or_word("[1,2]", "t"), json({1, 2}));
        QCOMPARE(json_or_word("pre", "t"), json("pre"));
        QCOMPARE(json_or_word("/a=b {", "t"), json("/a=b {"));
        QCOMPARE(json_or_word("", "t"), json(""));
        for (const std::string& text :
             {nested(100'000), std::string("1e999"), std::string("\xff"), std::string(R"({"a":1,"a":2})")})
            QVERIFY(rejection([&] { json_or_word(text, "t"); }).rfind("t: ", 0) == 0);
    }

    void foreignTextStaysInItsLine() {
        QCOMPARE(quoted("a\nb"), std::string(R"("a\nb")"));
        QCOMPARE(printable("a\nb"), std::string(R"(a\nb)"));
        QVERIFY(printable(std::string(1000, 'x')).size() < 100);
        QCOMPARE(json_text(json("\xff")), std::string("\"\xef\xbf\xbd\""));
    }

    void anObjectChecksItsValues() {
        const json value = strict_json(
            R"({"text": "a\nb", "none": "", "whole": 3, "huge": 18446744073709551615, "real": 2.5, "flag": true,
                "texts": ["a"], "mixed": ["a", 1]})",
            "t");
        const JsonObject object(value, "t");
        QCOMPARE(object.text("text"), std::string("a\nb"));
        QCOMPARE(object.text("missing", "m"), std::string("m"));
        QCOMPARE(object.number("whole"), 3.0);
        QCOMPARE(object.whole("whole", 0, 3), 3);
        QVERIFY(object.flag("flag"));
        QCOMPARE(object.texts("texts"), std::vector<std::string>{"a"});
        QCOMPARE(object.word("text", {"x", "a\nb"}), std::size_t{1});
        QVERIFY(object.list("missing").empty());
        const std::pair<std::function<void()>, const char*> wrong[] = {
            {[&] { object.of("missing"); }, "t: missing: is missing"},
            {[&] { object.text("none"); }, "t: none: is missing, allowed: a text"},
            {[&] { object.text("whole", ""); }, "t: whole: 3 is not a text"},
            {[&] { object.number("text"); }, "t: text: is missing, allowed: a number"},
            {[&] { object.whole("whole", 4, 5); },
             "t: whole: 3 is out of range, allowed: whole numbers 4 … 5"},
            {[&] { object.whole("huge", -1, 1); }, "t: huge: 18446744073709551615 is out of range"},
            {[&] { object.whole("real", 0, 9); }, "t: real: 2.5 is out of range"},
            {[&] { object.flag("whole"); }, "t: whole: 3 is not a switch, allowed: true, false"},
            {[&] {
                 object.word("text", {"x", "y"});
             },
             "t: text: a\\nb is unknown, allowed: x, y"},
            {[&] { object.list("flag"); }, "t: flag: not a list"},
            {[&] { object.texts("mixed"); }, "t: mixed: not a list of texts"},
            {[&] { object.object("flag"); }, "t: flag: not an object"},
            {[&] { JsonObject(value, "t", {"text"}); }, "t: flag: is unknown, allowed: text"}};
        for (const auto& [read, message] : wrong) {
            const std::string found = rejection(read);
            QVERIFY2(found.rfind(message, 0) == 0, found.c_str());
        }
    }
};

NORMSCOPE_TEST(StrictJsonTest)
#include "strict_json_test.moc"
