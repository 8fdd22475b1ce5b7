// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/window_text.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <nlohmann/json.hpp>

#include <QtTest>

using namespace normscope;
using namespace normscope::app;
using nlohmann::json;

namespace {

json soundView() {
    const json recipe = json::parse(recipe_json({}));
    return {{"version", 1},
            {"size", {1440, 900}},
            {"dark", true},
            {"wide", false},
            {"focus", -1},
            {"linked", false},
            {"group_seeds", false},
            {"run", 1},
            {"layer", 3},
            {"head", -1},
            {"step", 120},
            {"cells",
             {{{"panel", "growth"},
               {"options", {{"quantity", "rms"}}},
               {"views", {{"growth", {{{"x", {{"range", {0, 12}}}}, {"y", {{"log", true}}}}}}}}}}},
            {"knobs", {{"a", {{"recipe", recipe}, {"live", recipe}, {"pinned", true}, {"name", "A\nB"}}}}}};
}

json soundWindow() {
    return {{"version", 1},
            {"view", soundView().dump()},
            {"session_path", "/tmp/a.h5"},
            {"unsaved", true},
            {"tried", {{"a", {"lr"}}}},
            {"runs", {{{"id", "a"}, {"name", "A"}, {"recording", "/r.h5"}, {"companion", true}}}},
            {"story", {{"name", "s"}, {"at", 2}, {"held", {true, false}}}}};
}

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

class WindowTextTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void notesAreOptionalAndTexts() {
        json view = soundView();
        QVERIFY(readView(view.dump()).run_notes.empty());
        view["notes"] = {{"comparison", ""}, {"runs", {{"a", "a line\nand another"}}}};
        QCOMPARE(readView(view.dump()).note, QString());
        QCOMPARE(readView(view.dump()).run_notes.at("a"), QString("a line\nand another"));
        view["notes"]["runs"]["a"] = 3;
        QVERIFY(rejection([&] { readView(view.dump()); }).find("/view: notes: runs: a") == 0);
    }

    void aViewIsReadAsAWhole() {
        const StoredView view = readView(soundView().dump());
        QCOMPARE(view.size, (std::optional<std::pair<int, int>>({1440, 900})));
        QVERIFY(view.dark && !view.wide && !view.linked && !view.group_seeds);
        QCOMPARE(view.run, 1);
        QCOMPARE(view.layer, 3);
        QCOMPARE(view.step, std::optional<std::int64_t>(120));
        QCOMPARE(view.cells.size(), std::size_t{1});
        const widgets::PlotAxesView& axes = view.cells[0].views.at("growth").plots.at(0);
        QVERIFY((axes.x.range == std::pair<double, double>(0, 12)));
        QVERIFY(axes.y.scale == widgets::Scale::Log && !axes.y.range && !axes.x.scale);
        QVERIFY(view.knobs.at("a").pinned && view.knobs.at("a").recipe == Recipe{});
    }

    void aWindowIsReadAsAWhole() {
        const StoredWindow window = readWindow(soundWindow().dump(), "w");
        QCOMPARE(window.runs.size(), std::size_t{1});
        QVERIFY(window.runs[0].recipe == Recipe{} && window.runs[0].companion);
        QVERIFY(window.unsaved && window.story->held == (std::vector<bool>{true, false}));
        QCOMPARE(window.tried.at("a"), std::vector<std::string>{"lr"});
    }

    void hostileViews_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<std::string>("value");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* pointer, const std::string& value, const char* message) {
            QTest::newRow((pointer + value.substr(0, 40)).c_str()) << pointer << value << message;
        };
        const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
        for (const char* key : {"/size", "/cells", "/cells/0/options", "/knobs/a/recipe/stack"})
            row(key, nested, "is nested deeper than 32 levels");
        row("/version", "2", "/view: version: 2 is not known, allowed: 1");
        row("/dark", "1", "/view: dark: 1 is not a switch, allowed: true, false");
        row("/focus", "-2", "/view: focus: -2 is out of range");
        row("/layer", "1e300", "/view: layer: 1e+300 is out of range");
        row("/run", "9223372036854775808", "/view: run: 9223372036854775808 is out of range");
        row("/step", "-1", "/view: step: -1 is out of range");
        row("/step", "1e999", "/view: step: the number 1e999 is out of range");
        row("/size", "[1e300, 4]", "/view: size: [1e+300,4] is no size");
        row("/size", "[900]", "/view: size: [900] is no size");
        row("/cells/0/panel", "\"grow\\nth\"", "/view: cells.0: ");
        row("/cells/0/options/quantity", "\"many\"", "/view: cells.0: ");
        row("/cells/0/views/growth/0/x/range", "[2, 1]",
            "/view: cells.0: views: growth.0: x: range: empty range, allowed: low < high");
        row("/cells/0/views/growth/0/x/range", "[1]", "not a range");
        row("/knobs/a/recipe/stack/depth", "0",
            "/view: knobs: run a: recipe: stack.depth: 0 is out of range");
        row("/knobs/a/live", "3", "/view: knobs: run a: live: not a recipe");
        row("/knobs/a/pinned", "null", "/view: knobs: run a: pinned: null is not a switch");
    }
    void hostileViews() {
        QFETCH(QString, pointer);
        QFETCH(std::string, value);
        QFETCH(QString, message);
        json view = soundView();
        view[json::json_pointer(pointer.toStdString())] = "HERE";
        std::string text = view.dump();
        text.replace(text.find("\"HERE\""), 6, value);
        const std::string found = rejection([&] { readView(text); });
        QVERIFY2(QString::fromStdString(found).contains(message), found.c_str());
        QVERIFY(found.find('\n') == std::string::npos && found.size() < 1000);

        json window = soundWindow();
        window["view"] = text;
        const std::string kept = rejection([&] { readWindow(window.dump(), "w"); });
        QVERIFY2(kept == "w: " + found, kept.c_str());
    }

    void hostileWindows() {
        const auto with = [](const char* pointer, const json& value) {
            json window = soundWindow();
            window[json::json_pointer(pointer)] = value;
            return rejection([&] { readWindow(window.dump(), "w"); });
        };
        QCOMPARE(with("/runs", json::array()), std::string("w: runs: there is none, allowed: at least one"));
        QCOMPARE(with("/runs/0/id", "z"), std::string("w: runs.0: the view has no knobs of this run"));
        QCOMPARE(with("/runs/1", soundWindow()["runs"][0]),
                 std::string("w: runs.1: id: \"a\" is listed already, allowed: each run once"));
        QCOMPARE(with("/story/at", -1),
                 std::string("w: story: at: -1 is out of range, allowed: whole numbers 0 … 100000"));
        QCOMPARE(with("/story/held", {1}),
                 std::string("w: story: held: 1 is not a switch, allowed: true, false"));
        QCOMPARE(with("/tried/a", {1}), std::string("w: tried: a: not a list of texts, allowed: [\"…\", …]"));
        QVERIFY(rejection([] { readWindow("{\"version\": 1, \"version\": 1}", "w"); }) ==
                "w: \"version\" appears twice, allowed: each key once");
    }
};

NORMSCOPE_TEST(WindowTextTest)
#include "window_text_test.moc"
