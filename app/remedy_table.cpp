// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remedy_table.h"

#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>

namespace normscope::app {

namespace {

constexpr int kText = 11, kLine = 14, kGlyph = 10;
// Left edges of the columns as shares of the width: outcome, loss, gradient.
constexpr double kOutcome = 0.36, kLoss = 0.58, kGradient = 0.78;

}  // namespace

RemedyTable::RemedyTable(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Runs of the remedies"));
}

void RemedyTable::setRows(const std::vector<Row>& rows, const QString& gradient_title) {
    if (rows == rows_ && gradient_title == gradient_title_) return;
    rows_ = rows;
    gradient_title_ = gradient_title;
    QStringList lines;
    for (const Row& row : rows)
        lines << QStringList{row.name, row.outcome, tr("loss %1").arg(row.loss),
                             gradient_title + u' ' + row.gradient}
                     .join(QStringLiteral(", "));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    setToolTip(lines.join(u'\n'));
    update();
}

void RemedyTable::paintEvent(QPaintEvent*) {
    const widgets::Theme theme = widgets::themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont plain = font();
    plain.setPixelSize(kText);
    QFont heavy = plain;
    heavy.setBold(true);
    painter.setFont(plain);
    const auto cell = [&](double from, double to, int line, const QString& text) {
        const QRect box(static_cast<int>(from * width()), line * kLine,
                        static_cast<int>((to - from) * width()) - 4, kLine);
        painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, box.width()));
    };
    painter.setPen(theme.muted);
    cell(0, kOutcome, 0, tr("run"));
    cell(kOutcome, kLoss, 0, tr("outcome"));
    cell(kLoss, kGradient, 0, tr("loss, last 20 steps"));
    cell(kGradient, 1, 0, gradient_title_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const int line = static_cast<int>(i) + 1;
        painter.setPen(theme.run(row.run));
        painter.setFont(heavy);
        cell(0, kOutcome, line, row.name);
        painter.setFont(plain);
        const double glyph = kOutcome * width();
        widgets::paintGlyph(painter, QRectF(glyph, line * kLine + 2, kGlyph, kGlyph),
                            widgets::outcomeGlyph(row.state), theme.text);
        painter.setPen(theme.text);
        cell(kOutcome + (kGlyph + 4.0) / std::max(1, width()), kLoss, line, row.outcome);
        cell(kLoss, kGradient, line, row.loss);
        cell(kGradient, 1, line, row.gradient);
    }
}

}  // namespace normscope::app
