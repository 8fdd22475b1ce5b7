// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of many runs on a column of 85 mm: what is in the files.
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/group_runs.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/groups/grouped_figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/collisions.h"

#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>
#include <set>

using namespace normscope;
using namespace normscope::widgets;
using synthetic::GroupRuns;

namespace {

Figure grouped(const GroupRuns& all, const std::string& panel, const PanelOptions& options = {}) {
    PanelInput input;
    input.runs = all.runs;
    input.options = options;
    return groupedFigure(panelInfo(panel), input, groupRuns(all.runs, "scheme"), {});
}

GroupRuns sevenTimesThree() {
    GroupRuns all = synthetic::sixTimesThree();
    for (int seed = 42; seed <= 44; ++seed) all.add("output", seed);
    return all;
}

ExportOptions column(FileFormat format) {
    ExportOptions options;
    options.format = format;
    options.size_mm = QSizeF(85, 60);
    options.font_pt = 8;
    options.ratio = false;
    options.metadata = R"({"format": "normscope-recipe", "note": "a < b & c"})";
    return options;
}

/// The page's drawing operators, uncompressed.
QByteArray contentOf(const QByteArray& pdf) {
    QByteArray content;
    for (qsizetype at = 0; (at = pdf.indexOf("stream\n", at)) >= 0;) {
        const qsizetype begin = at + 7, end = pdf.indexOf("endstream", begin);
        if (end < 0) break;
        const QByteArray size("\0\0\x40\0", 4);  // a guess; qUncompress enlarges it
        if (pdf.mid(begin, 1) == "\x78") content += qUncompress(size + pdf.mid(begin, end - begin));
        at = end + 9;
    }
    return content;
}

QString output(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    if (!process.waitForFinished(20000) || process.exitCode() != 0) return program + ": failed";
    return QString::fromUtf8(process.readAllStandardOutput());
}

}  // namespace

class PaperFiguresTest : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

    QString saved(const QByteArray& bytes) {
        const QString path = dir_.filePath("figure.pdf");
        QFile file(path);
        if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size()) return {};
        return path;
    }

  private Q_SLOTS:
    void sixGroupsOfThreeFitAColumn_data() {
        QTest::addColumn<QString>("panel");
        for (const char* panel : {"growth", "gradients", "training"}) QTest::newRow(panel) << panel;
    }
    void sixGroupsOfThreeFitAColumn() {
        QFETCH(QString, panel);
        const Figure figure = grouped(synthetic::sixTimesThree(), panel.toStdString());
        const QByteArray pdf = renderFigure(figure, column(FileFormat::Pdf));
        QVERIFY(pdf.size() < 200000);
        const QStringList texts = collisionTexts(collisionsOf(figure, column(FileFormat::Pdf)));
        QVERIFY2(texts.isEmpty(), qPrintable(texts.join("; ")));

        const QString info = output("pdfinfo", {saved(pdf)});
        const auto page = QRegularExpression("Page size: +([0-9.]+) x ([0-9.]+) pts").match(info);
        QVERIFY2(page.hasMatch(), qPrintable(info));
        QVERIFY(std::abs(page.captured(1).toDouble() * 25.4 / 72 - 85) < 0.2);
        QVERIFY(std::abs(page.captured(2).toDouble() * 25.4 / 72 - 60) < 0.2);
        QVERIFY(!info.contains("CreationDate"));
        const QStringList fonts = output("pdffonts", {saved(pdf)}).split('\n', Qt::SkipEmptyParts).mid(2);
        QVERIFY(!fonts.isEmpty());
        for (const QString& font : fonts)  // name, type, encoding, emb, sub, uni, …
            QVERIFY2(QRegularExpression(" yes (yes|no) +(yes|no) ").match(font).hasMatch(), qPrintable(font));
    }

    /// In the unit of the page, 1/720 inch: ticks and names of 70 are 7 pt.
    void lettersAreAtLeastSevenPoints() {
        const Figure figure = grouped(synthetic::sixTimesThree(), "gradients");
        const QByteArray pdf = contentOf(renderFigure(figure, column(FileFormat::Pdf)));
        int texts = 0;
        for (auto it = QRegularExpression("/F\\d+ ([0-9.]+) Tf").globalMatch(QString::fromLatin1(pdf));
             it.hasNext(); ++texts)
            QVERIFY(it.next().captured(1).toDouble() >= 70);
        QVERIFY2(texts > 10, pdf.left(400));
        const QString svg = QString::fromUtf8(renderFigure(figure, column(FileFormat::Svg)));
        texts = 0;
        for (auto it = QRegularExpression("<text [^>]*font-size=\"([0-9.]+)\"").globalMatch(svg);
             it.hasNext(); ++texts)
            QVERIFY(it.next().captured(1).toDouble() >= 70);
        QVERIFY(texts > 10);
    }

    void aCurveIsOnePath() {
        const Figure figure = grouped(synthetic::sixTimesThree(), "training");
        const QString svg = QString::fromUtf8(renderFigure(figure, column(FileFormat::Svg)));
        int curves = 0;
        for (auto it = QRegularExpression("<g [^>]*stroke-width=\"7\\.5\"[^>]*>\\s*(<path [^>]*/>\\s*)+")
                           .globalMatch(svg);
             it.hasNext();)
            curves += it.next().captured(0).count("<path ");
        QCOMPARE(curves, 6);
        const QByteArray pdf = contentOf(renderFigure(figure, column(FileFormat::Pdf)));
        int strokes = 0;
        double width = 0;
        for (const QByteArray& line : pdf.split('\n')) {
            if (const qsizetype w = line.indexOf(" w "); w > 0) width = line.left(w).toDouble();
            if (line == "S" && width == 7.5) ++strokes;
        }
        QCOMPARE(strokes, 6);
    }

    void theSameFigureHasTheSameBytes() {
        const Figure figure = grouped(synthetic::sixTimesThree(), "growth");
        for (const FileFormat format : {FileFormat::Pdf, FileFormat::Svg}) {
            const QByteArray once = renderFigure(figure, column(format));
            QTest::qWait(format == FileFormat::Pdf ? 1100 : 0);  // a date would have seconds
            QCOMPARE(renderFigure(figure, column(format)), once);
        }
    }

    void metadataHoldsTheRecipe() {
        const Figure figure = grouped(synthetic::sixTimesThree(), "growth");
        const QString recipe = R"({"format": "normscope-recipe", "note": "a &lt; b &amp; c"})";
        for (const FileFormat format : {FileFormat::Pdf, FileFormat::Svg})
            QVERIFY(renderFigure(figure, column(format)).contains(recipe.toUtf8()));
    }

    void textAsOutlinesHasNoTextAndNoFont() {
        const Figure figure = grouped(synthetic::sixTimesThree(), "growth");
        ExportOptions options = column(FileFormat::Svg);
        options.text_paths = true;
        const QByteArray svg = renderFigure(figure, options);
        QVERIFY(!svg.contains("<text"));
        QVERIFY(renderFigure(figure, column(FileFormat::Svg)).contains("<text"));
        QVERIFY(svg.size() < 200000);
        options.format = FileFormat::Pdf;
        const QByteArray pdf = renderFigure(figure, options);
        QVERIFY(pdf.size() < 200000);
        QCOMPARE(output("pdffonts", {saved(pdf)}).split('\n', Qt::SkipEmptyParts).size(), qsizetype(2));
    }

    /// More than six groups, and 24 layers of four runs: legible on a column and in a panel of the window.
    void smallMultiplesAreLegible() {
        GroupRuns four;
        for (const char* scheme : {"pre", "post", "peri", "lns"}) four.add(scheme, 42, "", 24);
        PanelInput input;
        input.runs = four.runs;
        input.options = {{"x", "step"}};
        for (const Figure& figure :
             {grouped(sevenTimesThree(), "growth"), grouped(sevenTimesThree(), "training"),
              buildPanel("gradients", input)}) {
            QStringList texts = collisionTexts(collisionsOf(figure, column(FileFormat::Pdf)));
            QVERIFY2(texts.isEmpty(), qPrintable(figure.title + ": " + texts.join("; ")));
            QVERIFY(renderFigure(figure, column(FileFormat::Pdf)).size() < 200000);
            RenderStyle screen = screenStyle(Theme::make(Theme::Kind::Light));
            screen.show_title = false;
            const FigureLayout layout = layoutFigure(figure, QSizeF(580, 320), screen);
            texts = collisionTexts(collisionsIn(layout, screen));
            QVERIFY2(texts.isEmpty(), qPrintable(figure.title + ": " + texts.join("; ")));
            double filled = 0;
            std::set<double> lefts, tops;
            for (const PlotLayout& plot : layout.plots) {
                filled += plot.area.width() * plot.area.height() / (580.0 * 320);
                QVERIFY(plot.area.width() > 60 && plot.area.height() > 40);
                lefts.insert(plot.area.left());
                tops.insert(plot.area.top());
            }
            const std::size_t cells = lefts.size() * tops.size();  // 7 plots are a grid of 8
            QVERIFY2(cells <= layout.plots.size() + 1, qPrintable(QString::number(cells)));
            filled *= static_cast<double>(cells) / static_cast<double>(layout.plots.size());
            QVERIFY2(filled > 0.5, qPrintable(QString::number(filled)));
        }
    }
};

NORMSCOPE_WIDGET_TEST(PaperFiguresTest)
#include "paper_figures_test.moc"
