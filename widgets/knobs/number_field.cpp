// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/number_field.h"

#include "widgets/figures/number_text.h"
#include "widgets/knobs/field_paint.h"
#include "widgets/plots/palette_theme.h"

#include <QKeyEvent>
#include <QPainter>

namespace normscope::widgets {
namespace {

constexpr int kNumberFieldMargin = 2, kNumberFieldSampleLeft = 5, kSampleGap = 2;
constexpr int kOwnMargins = 4;  // that QLineEdit adds to the text margins

// Accepts 1e-5, 0.2 and 0,2.
double parsed(const QString& text, bool* ok) {
    return text.trimmed().replace(u',', u'.').toDouble(ok);
}

/// "5.62e-4", "1e-4": as it can be typed.
QString shortNumber(double value, int decimals) {
    const QString text = QString::number(value, 'e', decimals);
    const auto e = text.indexOf(u'e');
    QString mantissa = text.left(e);
    while (mantissa.contains(u'.') && (mantissa.endsWith(u'0') || mantissa.endsWith(u'.'))) mantissa.chop(1);
    return mantissa + u'e' + QString::number(text.mid(e + 1).toInt());
}

}  // namespace

NumberField::NumberField(QWidget* parent) : QLineEdit(parent) {
    setFrame(false);
    setAlignment(Qt::AlignRight);
    colourText();
    connect(this, &QLineEdit::textEdited, this, &NumberField::check);
    connect(this, &QLineEdit::editingFinished, this, &NumberField::commitText);
}

void NumberField::setScale(const KnobScale& scale) {
    scale_ = scale;
    if (!isModified()) check();
}

void NumberField::setValue(double value) {
    value_ = value;
    if (!isModified()) showValue();
}

void NumberField::setSummary(const QString& summary) {
    if (summary == summary_) return;
    summary_ = summary;
    if (!isModified()) showValue();
}

void NumberField::setRun(int run) {
    if (run == run_) return;
    run_ = run;
    placeText();
}

void NumberField::setCovered(int width) {
    if (width == covered_) return;
    covered_ = width;
    placeText();
}

void NumberField::placeText() {
    const int left = run_ >= 0 ? kNumberFieldSampleLeft + kSampleWidth + kSampleGap - kNumberFieldMargin : 0;
    setTextMargins(left, 0, std::max(kNumberFieldMargin, covered_ - kNumberFieldMargin), 0);
    if (!isModified()) showValue();
}

void NumberField::resizeEvent(QResizeEvent* event) {
    QLineEdit::resizeEvent(event);
    if (!isModified()) showValue();
}

QString NumberField::fittingText() const {
    const QMargins margins = textMargins();
    const int space = width() - margins.left() - margins.right() - kOwnMargins;
    const QString full = valueText(scale_, value_);
    if (scale_.isInteger()) return full;
    for (const QString& text : {full, numberText(value_, 3), shortNumber(value_, 2), shortNumber(value_, 1),
                                shortNumber(value_, 0)})
        if (fontMetrics().horizontalAdvance(text) <= space) return text;
    return full;
}

void NumberField::showValue() {
    const QString now = summary_.isEmpty() || hasFocus() ? fittingText() : summary_;
    if (text() != now) setText(now);
    setModified(false);
    check();
}

NumberField::Verdict NumberField::verdict() const {
    bool number = true;
    // The text shows four digits, and a slider's end may have more.
    const double shown = isModified() ? parsed(text(), &number) : value_;
    if (!number || (isModified() && !isAllowed(scale_, shown))) return Verdict::Rejected;
    const bool usual = (scale_.zero && shown == 0) || (shown >= scale_.low && shown <= scale_.high);
    return usual ? Verdict::Usual : Verdict::Unusual;
}

void NumberField::check() {
    const Verdict now = verdict();
    const QString allowed = allowedText(scale_), full = valueText(scale_, value_);
    const bool shortened = !isModified() && summary_.isEmpty() && text() != full;
    setToolTip(now == Verdict::Rejected  ? tr("Allowed: %1").arg(allowed)
               : now == Verdict::Unusual ? tr("Outside the slider's range; allowed: %1").arg(allowed)
               : shortened               ? full
                                         : QString());
    if (now == verdict_) return;
    verdict_ = now;
    colourText();
}

/// Rejected values in the colour of bad values, unusual ones muted: hue belongs to the runs. The box is
/// painted below the text.
void NumberField::colourText() {
    const Theme theme = themeOf(palette());
    QPalette colours;
    colours.setColor(QPalette::Base, Qt::transparent);
    if (verdict_ != Verdict::Usual)
        colours.setColor(QPalette::Text, verdict_ == Verdict::Rejected ? theme.bad : theme.muted);
    setPalette(colours);
}

void NumberField::changeEvent(QEvent* event) {
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && verdict_ != Verdict::Usual) {
        const QColor before = palette().color(QPalette::Text);
        const Theme theme = themeOf(palette());
        if (before != (verdict_ == Verdict::Rejected ? theme.bad : theme.muted)) colourText();
    }
}

void NumberField::commitText() {
    if (!isModified()) return;
    bool number = false;
    const double typed = parsed(text(), &number);
    setModified(false);
    if (number && isAllowed(scale_, typed) && typed != value_) {
        value_ = typed;
        Q_EMIT valueEntered(typed);
    }
    showValue();
}

bool NumberField::event(QEvent* event) {
    // Numbers contain no space: the key is passed on to the window, where it starts training.
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        Q_EMIT editingFinished();
        event->ignore();
        return true;
    }
    // A value that was entered is undone by the window.
    if (event->type() == QEvent::ShortcutOverride && !isModified()) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();
            return true;
        }
    }
    return QLineEdit::event(event);
}

void NumberField::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space) return event->ignore();
    if (event->key() == Qt::Key_Escape && isModified()) {
        setModified(false);
        showValue();
        return selectAll();
    }
    QLineEdit::keyPressEvent(event);
}

void NumberField::focusInEvent(QFocusEvent* event) {
    if (!isModified()) showValue();  // the value instead of the summary
    QLineEdit::focusInEvent(event);
}

void NumberField::focusOutEvent(QFocusEvent* event) {
    QLineEdit::focusOutEvent(event);
    if (!isModified()) showValue();
}

void NumberField::paintEvent(QPaintEvent* event) {
    {
        QPainter painter(this);
        paintField(painter, *this, run_ >= 0);
        if (run_ >= 0)
            paintLineSample(painter, QRectF(rect()).adjusted(kNumberFieldSampleLeft, 0, 0, 0), *this, run_);
    }
    QLineEdit::paintEvent(event);
}

}  // namespace normscope::widgets
