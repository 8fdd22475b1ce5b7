// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_chip.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr int kPad = 8, kGap = 6, kSwatch = 22, kGlyph = 12, kLeast = 120, kMost = 360;

QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

}  // namespace

RunChip::RunChip(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
}

void RunChip::setRun(const RunLabel& run) {
    const bool same_size =
        run.name == run_.name && run.differs == run_.differs && run.outcome() == run_.outcome();
    run_ = run;
    QString name = run.name;
    if (!run.differs.isEmpty()) name += QStringLiteral(", ") + run.differs;
    name += QStringLiteral(", ") + run.outcome();
    setAccessibleName(name);
    setToolTip(run.detail.isEmpty() ? name : name + u'\n' + run.detail);
    if (!same_size) updateGeometry();
    update();
}

QSize RunChip::sizeHint() const {
    const int word = QFontMetrics(font()).horizontalAdvance(run_.outcome());
    return {std::clamp(textWidth(true) + 2 * kGap + kGlyph + 4 + word + 2, kLeast, kMost), 30};
}

/// Without the outcome's word, which its glyph states too, and without the differences, which the tool tip
/// lists.
QSize RunChip::minimumSizeHint() const {
    return {std::clamp(textWidth(false) + kGap + kGlyph, kLeast, kMost), 30};
}

/// From the left end to the end of the name, or of the differences after it.
int RunChip::textWidth(bool differences) const {
    const QFontMetrics plain(font()), heavy(bold(font()));
    int width = 2 * kPad + kSwatch + kGap + heavy.horizontalAdvance(run_.name);
    if (differences && !run_.differs.isEmpty()) width += kGap + plain.horizontalAdvance(run_.differs);
    return width + 4;  // advances are rounded, a text that just fits must not be elided
}

bool RunChip::event(QEvent* event) {
    if (keepsSpace(this, event)) {
        event->accept();
        return true;
    }
    return QAbstractButton::event(event);
}

void RunChip::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    const QColor colour = theme.run(run_.index);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setPen(QPen(isChecked() || hasFocus() ? theme.text : theme.grid, hasFocus() ? 2 : 1.5));
    painter.setBrush(blend(theme.background, theme.text, !isChecked() && underMouse() ? 0.06 : 0.0));
    painter.drawRoundedRect(box, 5, 5);

    const double middle = box.center().y();
    QPen line(colour, 2.5);
    if (const auto dash = runDash(run_.index); !dash.isEmpty()) line.setDashPattern(dash);
    line.setCapStyle(Qt::FlatCap);
    painter.setPen(line);
    painter.drawLine(QPointF(kPad, middle), QPointF(kPad + kSwatch, middle));

    const QFontMetrics plain(font()), heavy(bold(font()));
    int left = kPad + kSwatch + kGap, right = width() - kPad;
    // The outcome's glyph is always shown, its word where the name still fits.
    const QString word = run_.outcome();
    const int word_width = plain.horizontalAdvance(word) + 2;
    if (width() >= sizeHint().width()) {
        right -= word_width;
        painter.setPen(theme.text);
        painter.drawText(QRect(right, 0, word_width, height()), Qt::AlignVCenter | Qt::AlignLeft, word);
        right -= 4;
    }
    right -= kGlyph;
    paintGlyph(painter, QRectF(right, middle - kGlyph / 2.0, kGlyph, kGlyph), outcomeGlyph(run_.state),
               colour);
    right -= kGap;

    painter.setPen(theme.text);
    painter.setFont(bold(font()));
    const QString name = heavy.elidedText(run_.name, Qt::ElideRight, right - left);
    painter.drawText(QRect(left, 0, right - left, height()), Qt::AlignVCenter | Qt::AlignLeft, name);
    left += heavy.horizontalAdvance(name) + kGap;
    if (plain.horizontalAdvance(run_.differs) > right - left) return;  // whole or not at all
    painter.setPen(theme.muted);
    painter.setFont(font());
    painter.drawText(QRect(left, 0, right - left, height()), Qt::AlignVCenter | Qt::AlignLeft, run_.differs);
}

}  // namespace normscope::widgets
