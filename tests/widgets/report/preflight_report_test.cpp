// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/preflight.h"
#include "core/run/complete.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/report/preflight_figures.h"
#include "widgets/report/preflight_html.h"
#include "widgets/report/preflight_page.h"
#include "widgets/report/preflight_text.h"

#include <QRegularExpression>
#include <QXmlStreamReader>
#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

namespace {

Preflight small(Scheme scheme, int depth = 8) {
    Recipe recipe;
    recipe.stack.scheme = scheme;
    recipe.stack.depth = depth;
    recipe.stack.d_model = 16;
    recipe.stack.heads = 2;
    recipe.stack.context = 16;
    recipe.train.batch = 2;
    ThreadPool pool(1);
    return preflight(recipe, pool);
}

class PreflightReportTest : public QObject {
    Q_OBJECT
    Preflight pre_;

  private Q_SLOTS:
    void initTestCase() { pre_ = small(Scheme::Pre); }

    void thePdfIsOnePageOfA4WithItsFonts() {
        const QByteArray pdf = preflightPdf(pre_);
        QVERIFY(pdf.startsWith("%PDF-1."));
        const QString text = QString::fromLatin1(pdf);
        auto boxes = QRegularExpression("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)\\]").globalMatch(text);
        int pages = 0;
        while (boxes.hasNext()) {
            const auto box = boxes.next();
            QVERIFY(std::abs(box.captured(1).toDouble() - 210 * 72 / 25.4) < 0.5);
            QVERIFY(std::abs(box.captured(2).toDouble() - 297 * 72 / 25.4) < 0.5);
            ++pages;
        }
        QCOMPARE(pages, 1);
        QCOMPARE(text.count(QRegularExpression("/Type\\s*/Page\\b")), 1);
        QVERIFY(pdf.contains("/FontFile2"));        // letters, not outlines
        QVERIFY(!pdf.contains("/Subtype /Image"));  // vector figures
        QVERIFY(pdf.contains("Pre-flight: Pre-LN"));
        QVERIFY(pdf.contains("normscope-recipe"));
        QVERIFY(!pdf.contains("/CreationDate"));
        QVERIFY(preflightPdf(pre_) == pdf);
    }

    /// The longest tables still fit: the text is made smaller, and nothing is drawn under the page.
    void longTablesFit() {
        Preflight lengthy = pre_;
        for (PreflightSection& section : lengthy.sections)
            for (PreflightRow& row : section.rows) row.sentence += " " + row.sentence + " " + row.sentence;
        QVERIFY(!preflightPdf(lengthy).isEmpty());
        for (PreflightSection& section : lengthy.sections)
            for (int i = 0; i < 100; ++i) section.rows.push_back(section.rows.front());
        QVERIFY_THROWS_EXCEPTION(std::exception, preflightPdf(lengthy));
    }

    void theHtmlIsWellFormedAndComplete() {
        const QByteArray html = preflightHtml(pre_);
        QXmlStreamReader xml(html);
        int figures = 0, drawings = 0, rows = 0, scripts = 0, sections = 0;
        QSet<QString> ids;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement) continue;
            figures += xml.name() == QLatin1String("figure");
            drawings += xml.name() == QLatin1String("svg");
            rows += xml.name() == QLatin1String("tr");
            scripts += xml.name() == QLatin1String("script");
            sections += xml.name() == QLatin1String("section");
            const auto attributes = xml.attributes();
            const QString id = attributes.value(QLatin1String("id")).toString();
            QVERIFY2(id.isEmpty() || !ids.contains(id), qPrintable(id));
            ids.insert(id);
            for (const auto& attribute : attributes) {
                const QString value = attribute.value().toString();
                const bool link =
                    attribute.name() == QLatin1String("src") || attribute.name() == QLatin1String("href");
                QVERIFY2(!link || value.startsWith(u'#') || value.startsWith(QLatin1String("data:")),
                         qPrintable(value));
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(figures, 4);
        QCOMPARE(drawings, 8);  // light and dark
        QCOMPARE(sections, 4);
        QCOMPARE(scripts, 0);
        std::size_t expected = 4;  // the heads
        for (const PreflightSection& section : pre_.sections) expected += section.rows.size();
        QCOMPARE(rows, int(expected));
        QVERIFY(html.contains("prefers-color-scheme: dark"));
        QVERIFY(preflightHtml(pre_) == html);
    }

    void textsAreEscaped() {
        Preflight odd = pre_;
        odd.run.name = "a < b & <script>";
        const QByteArray html = preflightHtml(odd);
        QVERIFY(html.contains("a &lt; b &amp; &lt;script&gt;"));
        QVERIFY(!html.contains("<script>"));
        QXmlStreamReader xml(html);
        while (!xml.atEnd()) xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    }

    void figuresShowTheMeasurementWithoutCollisions_data() {
        QTest::addColumn<int>("scheme");
        for (const SchemeRow& row : scheme_rows::kAll)
            if (row.scheme != Scheme::Custom) QTest::newRow(row.word) << int(row.scheme);
    }
    void figuresShowTheMeasurementWithoutCollisions() {
        QFETCH(int, scheme);
        const Preflight preflight = small(Scheme(scheme));
        QStringList panels;
        for (const Figure& figure : preflightFigures(preflight)) {
            panels << figure.panel;
            QVERIFY2(figure.empty_text.isEmpty(), qPrintable(figure.empty_text));
            QVERIFY(!figure.plots.empty());
            for (const QSizeF& size : {QSizeF(71, 60), QSizeF(90, 60)}) {
                const auto collisions = collisionsOf(figure, preflightPaper(size));
                QVERIFY2(collisions.empty(),
                         qPrintable(figure.panel + ": " + collisionTexts(collisions).join("; ")));
            }
        }
        QCOMPARE(panels, QStringList({"growth", "gradients", "lipschitz", "shift"}));
    }

    void textsOfARow() {
        PreflightRow row;
        row.name = "x";
        QCOMPARE(valueText(row), QString("–"));
        row.value = 3;
        row.unit = "of 24";
        row.word = "√";
        row.bound = 4.5;
        row.theory = PreflightRow::Theory::AtMost;
        row.sentence = "S.";
        row.validity = "v";
        QCOMPARE(valueText(row), QString("√, 3 of 24"));
        QCOMPARE(boundText(row), QString("≤ 4.5"));
        QCOMPARE(noteText(row), QString("S. (v)"));
        row.sentence.clear();
        QCOMPARE(noteText(row), QString("V."));
    }
};

}  // namespace

NORMSCOPE_WIDGET_TEST(PreflightReportTest)
#include "preflight_report_test.moc"
