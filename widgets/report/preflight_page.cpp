// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/preflight_page.h"

#include "core/base/error.h"
#include "widgets/export/page_figure.h"
#include "widgets/export/pdf_page.h"
#include "widgets/plots/theme.h"
#include "widgets/report/preflight_figures.h"
#include "widgets/report/preflight_text.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr double kUnit = kPaperUnitsPerInch / 25.4;  ///< of one mm
const QSizeF kA4{210, 297};                          // mm
constexpr double kPreflightPageMargin = 11, kTables = 112, kPreflightPageGap = 5;

/// Draws downward from a point, or only measures where it has no painter.
class Column {
  public:
    Column(QPainter* painter, double left, double top, double width, double text_pt)
        : painter_(painter),
          left_(left),
          y_(top),
          width_(width),
          body_(paperStyle(Theme::make(Theme::Kind::Print), text_pt)),
          note_(paperStyle(Theme::make(Theme::Kind::Print), text_pt * 0.88)),
          head_(paperStyle(Theme::make(Theme::Kind::Print), text_pt * 1.15)) {}

    double bottom() const { return y_; }
    void space(double mm) { y_ += mm * kUnit; }

    void section(int number, const QString& title) {
        text(QStringLiteral("%1  %2").arg(number).arg(title), head_.title, head_.theme.text, left_, width_,
             Qt::AlignLeft);
        if (painter_) {
            painter_->setPen(QPen(body_.theme.muted, 0.4 * kPaperUnitsPerInch / 72));
            painter_->drawLine(QPointF(left_, y_), QPointF(left_ + width_, y_));
        }
        space(0.7);
    }

    /// The name to the left, value and bound to the right, the note in lines below.
    void row(const PreflightRow& row) {
        const double top = y_, bound_width = 0.24 * width_, gap = kUnit;
        const QString bound = boundText(row), value = valueText(row);
        const double value_right = left_ + width_ - (row.word.empty() || !bound.isEmpty() ? bound_width : 0);
        const double value_width = QFontMetricsF(strong()).horizontalAdvance(value) + gap;
        const double name_width =
            QFontMetricsF(body_.text).horizontalAdvance(QString::fromStdString(row.name)) + gap;
        // A long answer in words gets its own line.
        const bool own_line = name_width + value_width > value_right - left_;
        text(QString::fromStdString(row.name), body_.text, body_.theme.text, left_, value_right - left_,
             Qt::AlignLeft);
        const double name_bottom = y_;
        if (!own_line) y_ = top;
        const double value_top = y_;
        text(value, strong(), body_.theme.text, left_, value_right - left_, Qt::AlignRight);
        const double value_bottom = y_;
        y_ = value_top;
        if (!bound.isEmpty())
            text(bound, body_.text, body_.theme.text, value_right + gap, bound_width - gap, Qt::AlignRight);
        y_ = std::max({y_, value_bottom, name_bottom});
        const QString note = noteText(row);
        if (!note.isEmpty())
            text(note, note_.text, note_.theme.muted, left_ + kUnit, width_ - kUnit, Qt::AlignLeft);
        space(0.75);
    }

    void text(const QString& words, const QFont& font, const QColor& colour, double left, double width,
              Qt::Alignment align) {
        const int flags = int(align) | Qt::AlignTop | Qt::TextWordWrap;
        const QRectF place(left, y_, width, 1e6);
        const QRectF needed = QFontMetricsF(font).boundingRect(place, flags, words);
        if (painter_) {
            painter_->setFont(font);
            painter_->setPen(colour);
            painter_->drawText(place, flags, words);
        }
        y_ = std::max(y_, needed.bottom());
    }

  private:
    QFont strong() const {
        QFont font = body_.text;
        font.setWeight(QFont::DemiBold);
        return font;
    }

    QPainter* painter_;
    double left_, y_, width_;
    RenderStyle body_, note_, head_;
};

double drawTables(QPainter* painter, const Preflight& preflight, double top, double text_pt) {
    Column column(painter, kPreflightPageMargin * kUnit, top, kTables * kUnit, text_pt);
    int number = 0;
    for (const PreflightSection& section : preflight.sections) {
        if (number > 0) column.space(1.6);
        column.section(++number, QString::fromUtf8(section.title));
        for (const PreflightRow& row : section.rows) column.row(row);
    }
    return column.bottom();
}

void drawPage(QPainter& painter, const Preflight& preflight) {
    const double right = (kA4.width() - kPreflightPageMargin) * kUnit,
                 end = (kA4.height() - kPreflightPageMargin) * kUnit;
    const RenderStyle head = paperStyle(Theme::make(Theme::Kind::Print), 13),
                      subject = paperStyle(Theme::make(Theme::Kind::Print), 8);
    Column header(&painter, kPreflightPageMargin * kUnit, kPreflightPageMargin * kUnit,
                  right - kPreflightPageMargin * kUnit, 8);
    header.text(preflightTitle(preflight), head.title, head.theme.text, kPreflightPageMargin * kUnit,
                right - kPreflightPageMargin * kUnit, Qt::AlignLeft);
    header.text(preflightSubject(preflight), subject.text, subject.theme.muted, kPreflightPageMargin * kUnit,
                right - kPreflightPageMargin * kUnit, Qt::AlignLeft);
    header.space(3.5);
    const double top = header.bottom();

    double text_pt = 8.4;
    while (drawTables(nullptr, preflight, top, text_pt) > end && text_pt > 4) text_pt -= 0.1;
    if (drawTables(&painter, preflight, top, text_pt) > end)
        throw SystemError("export: the tables do not fit a page");

    const double left = kPreflightPageMargin + kTables + kPreflightPageGap,
                 width = kA4.width() - kPreflightPageMargin - left, space = 3;
    const double height = ((end - top) / kUnit - 3 * space) / 4;
    double y = top / kUnit;
    for (const Figure& figure : preflightFigures(preflight)) {
        paintFigureInto(painter, QPointF(left, y) * kUnit, figure, preflightPaper({width, height}));
        y += height + space;
    }
}

}  // namespace

QByteArray preflightPdf(const Preflight& preflight) {
    return pdfPage(kA4, preflightTitle(preflight), QString::fromStdString(preflight.run.recipe.text()),
                   [&](QPainter& painter) { drawPage(painter, preflight); });
}

}  // namespace normscope::widgets
