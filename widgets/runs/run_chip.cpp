// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_chip.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/run_sample.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr int kRunChipPad = 10, kRunChipGap = 8, kRunChipSample = 22, kCountGap = 4, kRunChipGlyph = 11,
              kRunChipWordGap = 4;
constexpr int kWide = 290, kRunChipMaxName = 420;

QFont nameFont(const QFont& font) {
    return sized(font, 12, QFont::DemiBold);
}

int chipTextWidth(const QFont& font, const QString& text) {
    return text.isEmpty() ? 0 : QFontMetrics(font).horizontalAdvance(text) + 1;
}

QString countText(const RunLabel& run) {
    return run.runs > 1 ? QStringLiteral("×%1").arg(run.runs) : QString();
}

}  // namespace

RunChip::RunChip(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void RunChip::setRun(const RunLabel& run) {
    if (run == run_) return;
    const bool same_size = run.title() == run_.title();
    run_ = run;
    QString name = run.title();
    if (!run.differs.isEmpty()) name += QStringLiteral(", ") + run.differs;
    name += QStringLiteral(", ") + run.outcome();
    setAccessibleName(name);
    setToolTip(run.detail.isEmpty() ? name : name + u'\n' + run.detail);
    if (!same_size) updateGeometry();
    update();
}

QSize RunChip::sizeHint() const {
    return {std::max(kWide, minimumSizeHint().width()), kHeight};
}

QSize RunChip::minimumSizeHint() const {
    return {minimumChipWidth(outcome_shown_), kHeight};
}

int RunChip::minimumChipWidth(bool with_outcome) const {
    return std::max(kMin, nameEnd() + kRunChipPad + (with_outcome ? kRunChipGap + kRunChipGlyph : 0));
}

void RunChip::setOutcomeShown(bool shown) {
    if (shown == outcome_shown_) return;
    outcome_shown_ = shown;
    updateGeometry();
    update();
}

/// The right end of the name and the number of runs.
int RunChip::nameEnd() const {
    const QString count = countText(run_);
    int width = kRunChipPad + kRunChipSample + kRunChipGap +
                std::min(kRunChipMaxName, chipTextWidth(nameFont(font()), run_.name));
    if (!count.isEmpty()) width += kCountGap + chipTextWidth(sized(font(), 12), count);
    return width;
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
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double edge = hasFocus() ? 2.5 : isChecked() ? 1.5 : 1;
    painter.setPen(QPen(isChecked() || hasFocus() ? theme.text : theme.neutral, edge));
    painter.setBrush(isChecked()    ? theme.background
                     : underMouse() ? blend(palette().color(QPalette::Window), theme.text, 0.06)
                                    : palette().color(QPalette::Window));
    const double half = edge / 2;
    painter.drawRoundedRect(QRectF(rect()).adjusted(half, half, -half, -half), 7, 7);

    paintRunSample(painter, QRectF(kRunChipPad, 0, kRunChipSample, height()), theme, run_.index, 3);
    paintTexts(painter);
}

void RunChip::paintTexts(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    const QFont bold = nameFont(font()), plain = sized(font(), 12), small = sized(font(), 11);
    const auto write = [&](int x, const QFont& type, const QColor& colour, const QString& text) {
        painter.setFont(type);
        painter.setPen(colour);
        painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    };
    const int name_width = std::min(kRunChipMaxName, chipTextWidth(bold, run_.name));
    write(kRunChipPad + kRunChipSample + kRunChipGap, bold, theme.text,
          QFontMetrics(bold).elidedText(run_.name, Qt::ElideMiddle, name_width));
    if (const QString count = countText(run_); !count.isEmpty())
        write(kRunChipPad + kRunChipSample + kRunChipGap + name_width + kCountGap, plain, theme.muted, count);

    int left = nameEnd() + kRunChipGap, right = width() - kRunChipPad;
    const int differs = chipTextWidth(plain, run_.differs), word = chipTextWidth(small, run_.outcome());
    const bool differs_fits =
        differs > 0 && right - left >= differs + (outcome_shown_ ? kRunChipGap + kRunChipGlyph : 0);
    if (differs_fits) {
        write(left, plain, theme.muted, run_.differs);
        left += differs + kRunChipGap;
    }
    if (!outcome_shown_) return;
    if (right - left >= kRunChipGlyph + kRunChipWordGap + word) {
        write(right - word, small, theme.muted, run_.outcome());
        right -= word + kRunChipWordGap;
    }
    paintGlyph(painter,
               QRectF(right - kRunChipGlyph, (height() - kRunChipGlyph) / 2.0, kRunChipGlyph, kRunChipGlyph),
               outcomeGlyph(run_.state), theme.text);
}

}  // namespace normscope::widgets
