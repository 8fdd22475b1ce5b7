// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/pdf_page.h"

#include "core/base/error.h"
#include "widgets/export/xml_text.h"
#include "widgets/plots/theme.h"

#include <QBuffer>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>

namespace normscope::widgets {
namespace {

/// Qt writes the time of writing; blanks of the same length keep the table of offsets valid.
void removeDate(QByteArray& pdf) {
    const QByteArray key = "/CreationDate (";
    const qsizetype begin = pdf.lastIndexOf(key);
    const qsizetype end = begin < 0 ? -1 : pdf.indexOf(')', begin);
    if (end < 0) throw SystemError("export: PDF: no date where one was expected");
    for (qsizetype i = begin; i <= end; ++i) pdf[i] = ' ';
}

}  // namespace

QByteArray pdfPage(const QSizeF& size_mm, const QString& title, const QString& metadata,
                   const std::function<void(QPainter&)>& paint) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(static_cast<int>(kPaperUnitsPerInch));
    writer.setPageSize(QPageSize(size_mm, QPageSize::Millimeter, QString(), QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF());
    writer.setTitle(title);
    writer.setCreator(QStringLiteral("Normscope"));
    writer.setDocumentXmpMetadata(
        "<?xpacket begin='\xEF\xBB\xBF' id='W5M0MpCehiHzreSzNTczkc9d'?>\n"
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        "<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>" +
        xmlText(title).toUtf8() +
        "</rdf:li></rdf:Alt></dc:title>"
        "<dc:description><rdf:Alt><rdf:li xml:lang='x-default'>" +
        xmlText(metadata).toUtf8() +
        "</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end='w'?>");
    QPainter painter;
    if (!painter.begin(&writer)) throw SystemError("export: cannot start painting");
    painter.setRenderHint(QPainter::LosslessImageRendering);  // else maps are stored as JPEG
    paint(painter);
    if (!painter.end()) throw SystemError("export: painting failed");
    removeDate(bytes);
    return bytes;
}

}  // namespace normscope::widgets
