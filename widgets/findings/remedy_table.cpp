// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/remedy_table.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kRemedyTableText = 11, kRemedyTableGlyph = 10;
// Left edges of the columns as shares of the width: outcome, loss, gradient.
constexpr double kOutcome = 0.3, kLoss = 0.45, kGradient = 0.65;

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
    // The panel of gradients has other numbers under the same name.
    lines << tr(
        "Gradient: median of the training batches of the last 20 steps; the panel Gradients by depth "
        "measures the held-out batch at the step shown");
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    setToolTip(lines.join(u'\n'));
    update();
}

void RemedyTable::cell(QPainter& painter, double from, int right, const QRect& line,
                       const QString& text) const {
    const QRect box(at(from), line.top(), right - at(from) - 4, line.height());
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, box.width()));
}

void RemedyTable::paintHead(QPainter& painter, int height, int right) const {
    const QRect line(0, 0, width(), height);
    painter.setFont(sized(font(), kRemedyTableText));
    painter.setPen(themeOf(palette()).muted);
    cell(painter, 0, at(kOutcome), line, tr("tried from step 0"));
    cell(painter, kOutcome, at(kLoss), line, tr("outcome"));
    cell(painter, kLoss, at(kGradient), line, tr("loss, last 20 steps"));
    cell(painter, kGradient, right, line, gradient_title_);
}

void RemedyTable::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const QRect line(0, static_cast<int>(i) * kLine, width(), kLine);
        painter.setPen(theme.run(row.run));
        painter.setFont(sized(font(), kRemedyTableText, QFont::Bold));
        cell(painter, 0, at(kOutcome), line, row.name);
        painter.setFont(sized(font(), kRemedyTableText));
        paintGlyph(painter, QRectF(at(kOutcome), line.top() + 2, kRemedyTableGlyph, kRemedyTableGlyph),
                   outcomeGlyph(row.state), theme.text);
        painter.setPen(theme.text);
        cell(painter, kOutcome + (kRemedyTableGlyph + 4.0) / std::max(1, width()), at(kLoss), line,
             row.outcome);
        cell(painter, kLoss, at(kGradient), line, row.loss);
        cell(painter, kGradient, width(), line, row.gradient);
    }
}

}  // namespace normscope::widgets
