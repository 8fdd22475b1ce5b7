// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/figure_exporter.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/figures/save_bytes.h"

#include <sys/resource.h>

#include <QFile>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>
#include <csignal>

using namespace normscope;
using namespace normscope::widgets;

namespace {

const QString kRecipe = R"({"format": "normscope-recipe", "note": "a < b & c"})";

/// The contents of an SVG file, read as XML.
struct Svg {
    QString width, height, view_box, description;
    int curves = 0;  ///< paths that are stroked and not filled
    int images = 0;
    QStringList texts;
};

Svg read(const QByteArray& bytes) {
    Svg svg;
    QXmlStreamReader xml(bytes);
    QStringList fills;  // of the enclosing groups
    while (!xml.atEnd()) {
        const auto token = xml.readNext();
        if (token == QXmlStreamReader::EndElement && xml.name() == QLatin1String("g")) fills.removeLast();
        if (token != QXmlStreamReader::StartElement) continue;
        const auto a = xml.attributes();
        if (xml.name() == QLatin1String("svg")) {
            svg.width = a.value("width").toString();
            svg.height = a.value("height").toString();
            svg.view_box = a.value("viewBox").toString();
        } else if (xml.name() == QLatin1String("g")) {
            fills.append(a.value("fill").toString());
        } else if (xml.name() == QLatin1String("desc")) {
            svg.description = xml.readElementText();
        } else if (xml.name() == QLatin1String("text")) {
            svg.texts.append(xml.readElementText().trimmed());
        } else if (xml.name() == QLatin1String("image")) {
            ++svg.images;
        } else if (xml.name() == QLatin1String("path") && fills.last() == QLatin1String("none")) {
            ++svg.curves;
        }
    }
    if (xml.hasError()) svg.description = "XML error: " + xml.errorString();
    return svg;
}

ExportOptions options(FileFormat format) {
    ExportOptions o;
    o.format = format;
    o.metadata = kRecipe;
    return o;
}

template <class Error, class Call>
QString messageOf(Call call) {
    try {
        call();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace

class FigureExporterTest : public QObject {
    Q_OBJECT
    test::WarningsFail warnings_;
    QTemporaryDir dir_;

  private Q_SLOTS:
    void cleanup() { warnings_.check(); }

    void svgHasOnePathPerCurveAndTextAsText() {
        for (const Figure& f : {samples::gradients(), samples::losses(), samples::layersOverSteps()}) {
            std::size_t curves = 0;
            for (const auto& p : f.plots) curves += p.curves.size();
            const Svg svg = read(renderFigure(f, options(FileFormat::Svg)));
            QCOMPARE(svg.curves, static_cast<int>(curves));
            QCOMPARE(svg.description, kRecipe);
            QVERIFY(svg.texts.contains(f.title));
        }
        const Svg svg = read(renderFigure(samples::gradients(), options(FileFormat::Svg)));
        QVERIFY(svg.texts.contains("Post-LN"));
        QVERIFY(svg.texts.contains("10⁻⁶"));
    }

    void svgHasItsSizeInMillimetres() {
        ExportOptions o = options(FileFormat::Svg);
        o.size_mm = QSizeF(85, 61.5);
        const Svg svg = read(renderFigure(samples::losses(), o));
        QCOMPARE(svg.width, QString("85mm"));
        QCOMPARE(svg.height, QString("61.5mm"));
        const QStringList box = svg.view_box.split(' ');
        QVERIFY(std::abs(box.at(2).toDouble() - 85 / 25.4 * 720) < 0.01);
    }

    void lettersHaveTheirSizeInPoints() {
        ExportOptions o = options(FileFormat::Svg);
        o.font_pt = 8;
        const QByteArray svg = renderFigure(samples::losses(), o);
        QVERIFY(svg.contains("font-size=\"80\""));  // tenths of a point: text
        QVERIFY(svg.contains("font-size=\"70\""));  // ticks
        QVERIFY(svg.contains("stroke-width=\"7.5\""));
    }

    void mapsAreImages() {
        QCOMPARE(read(renderFigure(samples::theta(), options(FileFormat::Svg))).images, 2);
    }

    void pdfHasPageTitleAndRecipe() {
        const QByteArray pdf = renderFigure(samples::theta(), options(FileFormat::Pdf));
        QVERIFY(pdf.startsWith("%PDF-1."));
        const auto box =
            QRegularExpression("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)\\]").match(QString::fromLatin1(pdf));
        QVERIFY(box.hasMatch());
        QVERIFY(std::abs(box.captured(1).toDouble() - 85 / 25.4 * 72) < 0.5);  // Qt writes whole points
        QVERIFY(std::abs(box.captured(2).toDouble() - 60 / 25.4 * 72) < 0.5);
        const qsizetype xmp = pdf.indexOf("<x:xmpmeta"), end = pdf.indexOf("</x:xmpmeta>", xmp);
        QVERIFY(xmp > 0 && end > xmp);
        QXmlStreamReader xml(pdf.mid(xmp, end - xmp) + "</x:xmpmeta>");
        QString description;
        while (!xml.atEnd())
            if (xml.readNext() == QXmlStreamReader::StartElement &&
                xml.name() == QLatin1String("description"))
                description = xml.readElementText(QXmlStreamReader::IncludeChildElements);
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(description, kRecipe);
        QVERIFY(!pdf.contains("/DCTDecode"));  // no JPEG
        QVERIFY(pdf.contains("/FontFile2"));   // letters, not outlines
    }

    void pngHasPixelsDensityAndRecipe() {
        ExportOptions o = options(FileFormat::Png);
        o.size_mm = QSizeF(127, 76.2);
        o.dpi = 200;
        const QImage image = QImage::fromData(renderFigure(samples::losses(), o), "png");
        QCOMPARE(image.size(), QSize(1000, 600));
        QCOMPARE(image.dotsPerMeterX(), 7874);
        QCOMPARE(image.text("Description"), kRecipe);
        QCOMPARE(image.pixelColor(0, 0), QColor(Qt::white));
    }

    void viewStateIsOnPaperToo() {
        ExportOptions o = options(FileFormat::Svg);
        o.view.plots = {{{Range{50, 150}, std::nullopt}, {}}};
        const Svg svg = read(renderFigure(samples::losses(), o));
        QVERIFY(svg.texts.contains("100"));
        QVERIFY(!svg.texts.contains("200"));
    }

    void filesAreWrittenWholeOrNotAtAll() {
        const QString path = dir_.filePath("a.svg");
        exportFigure(samples::losses(), options(formatOf(path)), path);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray good = file.readAll();
        QCOMPARE(read(good).curves, 3);

        // A disk with 4 kB free: the old file is kept, no other file remains, and the error is one line.
        rlimit before{};
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{4096, before.rlim_max};
        const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        const QString full = messageOf<SystemError>(
            [&] { exportFigure(samples::gradients(), options(FileFormat::Svg), path); });
        // Small enough to fail only when the file is closed.
        const QString late = messageOf<SystemError>([&] { saveBytes(path, QByteArray(5000, 'x')); });
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, old_handler);
        QVERIFY2(full.startsWith(path + ": cannot write"), qPrintable(full));
        QVERIFY2(late.startsWith(path + ": cannot write"), qPrintable(late));
        QVERIFY(!full.contains(u'\n'));
        file.seek(0);
        QCOMPARE(file.readAll(), good);
        QCOMPARE(QDir(dir_.path()).entryList(QDir::Files), QStringList{"a.svg"});

        const QString nowhere = dir_.filePath("missing/b.svg");
        QVERIFY(messageOf<SystemError>([&] {
                    exportFigure(samples::losses(), options(FileFormat::Svg), nowhere);
                }).contains("missing/b.svg"));
    }

    void badOptionsAreRejected() {
        ExportOptions o;
        o.size_mm = QSizeF(0, 60);
        QCOMPARE(messageOf<InputError>([&] { renderFigure(samples::losses(), o); }),
                 QString("width in mm: 0 is out of range, allowed: 10 … 2000"));
        o = {};
        o.font_pt = kNaN;
        QVERIFY(messageOf<InputError>([&] { renderFigure(samples::losses(), o); }).contains("font in pt"));
        QVERIFY(messageOf<InputError>([] { formatOf("x.bmp"); }).contains(".svg, .pdf, .png"));
        QCOMPARE(formatOf("A.PDF"), FileFormat::Pdf);
    }
};

NORMSCOPE_WIDGET_TEST(FigureExporterTest)
#include "figure_exporter_test.moc"
