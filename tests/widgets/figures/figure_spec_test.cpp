// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/spec/figure_spec.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class FigureSpecTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void comesBackAsItWas() {
        FigureSpec spec;
        spec.sessions = {"a.h5", "b.h5"};
        spec.panel = "growth";
        spec.options = {{"quantity", "ma"}, {"bound", "off"}};
        spec.runs = {"Pre-LN"};
        spec.step = 123456789012;
        spec.paper.size_mm = QSizeF(120.5, 80);
        spec.paper.font_pt = 9.5;
        spec.paper.dpi = 600;
        spec.paper.theme = Theme::Kind::Dark;
        spec.paper.legend = LegendPlace::None;
        spec.paper.title = false;
        spec.paper.view.plots = {{{Range{0.1, 12}, std::nullopt}, {std::nullopt, Scale::Log}},
                                 {{}, {Range{-1, 1}, Scale::Linear}}};
        const QByteArray json = figureSpecToJson(spec);
        const FigureSpec back = figureSpecFromJson(json);
        QCOMPARE(figureSpecToJson(back), json);
        QCOMPARE(back.sessions, spec.sessions);
        QVERIFY(back.options == spec.options);
        QCOMPARE(back.step, spec.step);
        QCOMPARE(back.paper.theme, Theme::Kind::Dark);
        QVERIFY(back.paper.legend == LegendPlace::None && !back.paper.title);
        QVERIFY(back.paper.view == spec.paper.view);
    }

    void defaultsAreUsed() {
        const FigureSpec spec =
            figureSpecFromJson(R"({"format": "normscope-figure", "version": 1, "panel": "theta"})");
        QVERIFY(!spec.step);
        QCOMPARE(spec.paper.size_mm, ExportOptions().size_mm);
        QCOMPARE(spec.paper.theme, Theme::Kind::Print);
    }

    void rejectsWithPlaceAndAllowed_data() {
        QTest::addColumn<QByteArray>("rest");
        QTest::addColumn<QString>("message");
        QTest::newRow("unknown") << QByteArray(R"("pannel": 1)") << "pannel: unknown key, allowed: format";
        QTest::newRow("theme") << QByteArray(R"("theme": "sepia")")
                               << "theme: unknown value, allowed: light, dark, print";
        QTest::newRow("step") << QByteArray(R"("step": 1.5)") << "step: not a whole number";
        QTest::newRow("size") << QByteArray(R"("size_mm": [1])")
                              << "size_mm: not a size, allowed: [width, height]";
        QTest::newRow("runs") << QByteArray(R"("runs": ["a", 2])") << "runs[1]: not a text";
        QTest::newRow("option") << QByteArray(R"("options": {"a": 1})") << "options.a: not a text";
        QTest::newRow("scale") << QByteArray(R"("view": [{"x": {"scale": "cubic"}}])")
                               << "view[0].x.scale: unknown scale, allowed: linear, log";
        QTest::newRow("range") << QByteArray(R"("view": [{}, {"y": {"range": [2, 1]}}])")
                               << "view[1].y.range: empty range, allowed: low < high";
        QTest::newRow("dpi") << QByteArray(R"("dpi": 1e9)")
                             << "dpi: 1000000000 is out of range, allowed: 30 … 2400";
    }
    void rejectsWithPlaceAndAllowed() {
        QFETCH(QByteArray, rest);
        QFETCH(QString, message);
        QString text;
        try {
            figureSpecFromJson(R"({"format": "normscope-figure", "version": 1, "panel": "growth", )" + rest +
                               "}");
        } catch (const InputError& e) {
            text = e.what();
        }
        QVERIFY2(text.startsWith(message), qPrintable(text));
    }

    void otherFilesAreRejected() {
        for (const char* text :
             {"", "{", "[]", "{}", "3", R"({"format": "normscope-figure", "version": 2, "panel": "growth"})",
              R"({"format": "normscope-figure", "version": 1})",
              R"({"format": "normscope-recipe", "version": 1})"}) {
            QVERIFY_EXCEPTION_THROWN(figureSpecFromJson(text), InputError);
        }
    }
};

NORMSCOPE_TEST(FigureSpecTest)
#include "figure_spec_test.moc"
