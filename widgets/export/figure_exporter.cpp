// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/figure_exporter.h"

#include "core/base/error.h"
#include "widgets/export/page_figure.h"
#include "widgets/export/pdf_page.h"
#include "widgets/export/xml_text.h"
#include "widgets/figures/save_bytes.h"
#include "widgets/plots/figure_scene.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QImageWriter>
#include <QPainter>
#include <QSvgGenerator>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kMmPerInch = 25.4;

void checkRange(const char* name, double value, double low, double high) {
    if (value >= low && value <= high) return;
    const QString allowed = QStringLiteral("%1 … %2").arg(low).arg(high);
    throw InputError(name, QString::number(value).toStdString() + " is out of range", allowed.toStdString());
}

void checkOptions(const ExportOptions& options) {
    checkRange("width in mm", options.size_mm.width(), 10, 2000);
    checkRange("height in mm", options.size_mm.height(), 10, 2000);
    checkRange("font in pt", options.font_pt, 2, 100);
    checkRange("dpi", options.dpi, 30, 2400);
}

RenderStyle styleOf(const ExportOptions& options) {
    RenderStyle style = paperStyle(Theme::make(options.theme), options.font_pt);
    style.legend = options.legend;
    style.show_title = options.title;
    style.text_paths = options.text_paths;
    return style;
}

Figure shown(const Figure& figure, const ExportOptions& options) {
    Figure viewed = applyViewState(figure, options.view);
    if (!options.title_text.isEmpty()) {
        viewed.title = options.title_text;
        viewed.subtitle.clear();  // it is part of the title that was replaced
    }
    return options.ratio ? viewed : withoutRatio(std::move(viewed));
}

QSizeF paperSize(const ExportOptions& options) {
    return options.size_mm / kMmPerInch * kPaperUnitsPerInch;
}

/// Paints into a device that is open for writing; the painter works in tenths of a point after `scale`.
void paintInto(QPaintDevice& device, FigureScene& scene, double scale) {
    QPainter painter;
    if (!painter.begin(&device)) throw SystemError("export: cannot start painting");
    painter.scale(scale, scale);
    painter.setRenderHint(QPainter::LosslessImageRendering);  // else PDF stores maps as JPEG
    scene.paint(painter);
    if (!painter.end()) throw SystemError("export: painting failed");
}

QByteArray figureTitle(const Figure& figure, const ExportOptions& options) {
    if (!options.title_text.isEmpty()) return xmlText(options.title_text).toUtf8();
    return xmlText(figure.subtitle.isEmpty() ? figure.title : figure.title + u' ' + figure.subtitle).toUtf8();
}

QByteArray svg(const Figure& figure, const ExportOptions& options, FigureScene& scene) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    // The size is in whole dots: with dots of a micrometre it is exact. Drawing uses the view box.
    generator.setResolution(static_cast<int>(1000 * kMmPerInch));
    generator.setSize((options.size_mm * 1000).toSize());
    generator.setViewBox(scene.sceneRect());
    // QSvgGenerator copies both into the XML verbatim.
    generator.setTitle(QString::fromUtf8(figureTitle(figure, options)));
    generator.setDescription(xmlText(options.metadata));
    paintInto(generator, scene, 1);
    return bytes;
}

QByteArray pdf(const Figure& figure, const ExportOptions& options, FigureScene& scene) {
    const QString title = figure.subtitle.isEmpty() ? figure.title : figure.title + u' ' + figure.subtitle;
    return pdfPage(options.size_mm, title, options.metadata,
                   [&](QPainter& painter) { scene.paint(painter); });
}

QByteArray png(const Figure& figure, const ExportOptions& options, FigureScene& scene) {
    const double scale = options.dpi / kPaperUnitsPerInch;
    const QSizeF pixels = options.size_mm / kMmPerInch * options.dpi;
    QImage image(pixels.toSize(), QImage::Format_RGB32);
    if (image.isNull()) throw SystemError("export: no memory for an image of this size");
    image.fill(scene.style().theme.background);
    image.setDotsPerMeterX(static_cast<int>(std::lround(options.dpi * 1000 / kMmPerInch)));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    image.setText(QStringLiteral("Title"), figure.title);
    image.setText(QStringLiteral("Software"), QStringLiteral("Normscope"));
    if (!options.metadata.isEmpty()) image.setText(QStringLiteral("Description"), options.metadata);
    paintInto(image, scene, scale);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QImageWriter writer(&buffer, "png");
    if (!writer.write(image)) throw SystemError("export: PNG: " + writer.errorString().toStdString());
    return bytes;
}

}  // namespace

std::vector<Collision> collisionsOf(const Figure& figure, const ExportOptions& options) {
    checkOptions(options);
    const RenderStyle style = styleOf(options);
    return collisionsIn(layoutFigure(shown(figure, options), paperSize(options), style), style);
}

void paintFigureInto(QPainter& painter, const QPointF& at, const Figure& figure,
                     const ExportOptions& options) {
    checkOptions(options);
    FigureScene scene;
    scene.setFigure(shown(figure, options), paperSize(options), styleOf(options));
    painter.save();
    painter.translate(at);
    scene.paint(painter);
    painter.restore();
}

QByteArray renderFigure(const Figure& figure, const ExportOptions& options) {
    checkOptions(options);
    FigureScene scene;
    scene.setFigure(shown(figure, options), paperSize(options), styleOf(options));
    switch (options.format) {
        case FileFormat::Svg:
            return svg(figure, options, scene);
        case FileFormat::Pdf:
            return pdf(figure, options, scene);
        case FileFormat::Png:
            return png(figure, options, scene);
    }
    throw InputError("format: unknown, allowed: svg, pdf, png");
}

void exportFigure(const Figure& figure, const ExportOptions& options, const QString& path) {
    saveBytes(path, renderFigure(figure, options));
}

FileFormat formatOf(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == QLatin1String("svg")) return FileFormat::Svg;
    if (ending == QLatin1String("pdf")) return FileFormat::Pdf;
    if (ending == QLatin1String("png")) return FileFormat::Png;
    throw InputError(path.toStdString(), "unknown image format", ".svg, .pdf, .png");
}

}  // namespace normscope::widgets
