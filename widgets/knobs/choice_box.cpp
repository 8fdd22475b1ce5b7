// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/choice_box.h"

#include "widgets/knobs/field_paint.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QAbstractItemView>
#include <QKeyEvent>
#include <QPainter>
#include <QWheelEvent>

namespace normscope::widgets {
namespace {
constexpr int kPad = 4, kGap = 3, kCaret = 9, kListMargin = 8;
}

ChoiceBox::ChoiceBox(QWidget* parent) : QComboBox(parent) {
    setFocusPolicy(Qt::StrongFocus);
    connect(this, &QComboBox::activated, this, [this] {
        const QString old_word = word_;
        word_ = currentData().toString();
        if (word_ != old_word) Q_EMIT wordChosen(old_word, word_);
    });
}

void ChoiceBox::setWord(const QString& word) {
    word_ = word;
    setCurrentIndex(findData(word));
}

void ChoiceBox::setRun(int run) {
    if (run == run_) return;
    run_ = run;
    update();
}

int ChoiceBox::minimumChipWidth(bool sample) const {
    return 2 * kPad + fontMetrics().horizontalAdvance(currentText()) + 1 + (sample ? kSampleWidth + kGap : 0);
}

/// The list shows its titles whole, however narrow the box is.
void ChoiceBox::showPopup() {
    view()->setMinimumWidth(view()->sizeHintForColumn(0) + 2 * view()->frameWidth() + kListMargin);
    QComboBox::showPopup();
}

void ChoiceBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Home || event->key() == Qt::Key_End)
        event->ignore();
    else
        QComboBox::keyPressEvent(event);
}

void ChoiceBox::wheelEvent(QWheelEvent* event) {
    if (hasFocus())
        QComboBox::wheelEvent(event);
    else
        event->ignore();
}

void ChoiceBox::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    paintField(painter, *this, true);
    QRectF inside = QRectF(rect()).adjusted(kPad, 0, -kPad, 0);
    if (run_ >= 0) {
        paintLineSample(painter, inside, *this, run_);
        inside.setLeft(inside.left() + kSampleWidth + kGap);
    }
    const QColor ink = isEnabled() ? theme.text : theme.muted;
    painter.setPen(ink);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, currentText());
    // The title comes first: the caret is drawn where it leaves space.
    if (inside.width() - fontMetrics().horizontalAdvance(currentText()) >= kCaret)
        paintGlyph(painter, QRectF(inside.right() - kCaret + 2, (height() - kCaret) / 2.0, kCaret, kCaret),
                   Glyph::Caret, ink);
}

}  // namespace normscope::widgets
