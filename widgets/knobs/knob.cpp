// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob.h"

#include "widgets/knobs/knob_slider.h"
#include "widgets/plots/palette_theme.h"

#include <QKeyEvent>
#include <QLineEdit>

namespace normscope::widgets {
namespace {

/// A field that discards an unfinished text on Esc.
class NumberField : public QLineEdit {
  public:
    using QLineEdit::QLineEdit;

  protected:
    bool event(QEvent* event) override {
        // Numbers contain no space: the key is passed on to the window, where it starts training.
        if (event->type() == QEvent::ShortcutOverride &&
            static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
            Q_EMIT editingFinished();
            event->ignore();
            return true;
        }
        return QLineEdit::event(event);
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Space) return event->ignore();
        if (event->key() == Qt::Key_Escape && isModified()) {
            undoAll();
            return;
        }
        QLineEdit::keyPressEvent(event);
    }

  private:
    void undoAll() {
        while (isUndoAvailable()) undo();
        setModified(false);
        selectAll();
    }
};

// Accepts 1e-5, 0.2 and 0,2.
double parsed(QString text, bool* ok) {
    return text.trimmed().replace(u',', u'.').toDouble(ok);
}

}  // namespace

Knob::Knob(const QString& label, const QString& name, const KnobScale& scale, QWidget* parent)
    : KnobRow(label, name, parent), slider_(new KnobSlider(this)), field_(new NumberField(this)) {
    field_->setFixedWidth(54);
    field_->setAlignment(Qt::AlignRight);
    setEditor(field_);
    setBody(slider_);
    slider_->setScale(scale);
    slider_->setRangesMarkable(true);
    connect(slider_, &KnobSlider::rangeMarked, this, &Knob::rangeMarked);
    connect(slider_, &KnobSlider::dragStarted, this, &Knob::dragStarted);
    connect(slider_, &KnobSlider::valueChanging, this, [this](double value) {
        showValue();
        Q_EMIT valueChanging(value);
    });
    connect(slider_, &KnobSlider::valueCommitted, this, [this](double old_value, double new_value) {
        showValue();
        Q_EMIT valueCommitted(old_value, new_value);
    });
    connect(field_, &QLineEdit::textEdited, this, &Knob::check);
    connect(field_, &QLineEdit::editingFinished, this, &Knob::commitText);
    showValue();
}

// A focused field ends editing when its window is destroyed; the knob is a plain QWidget by then.
Knob::~Knob() {
    field_->disconnect(this);
}

void Knob::setScale(const KnobScale& scale) {
    slider_->setScale(scale);
    if (!field_->isModified()) check();
}

void Knob::setValue(double value) {
    slider_->setValue(value);
    if (!field_->isModified()) showValue();
}

void Knob::setDefaultValue(double value) {
    default_ = value;
    slider_->setDefaultValue(value);
    setChanged(this->value() != default_);
}

double Knob::value() const {
    return slider_->value();
}

const KnobScale& Knob::scale() const {
    return slider_->scale();
}

bool Knob::isDragging() const {
    return slider_->isDragging();
}

void Knob::showValue() {
    const QString text = valueText(scale(), value());
    if (field_->text() != text) field_->setText(text);
    field_->setModified(false);
    setChanged(value() != default_);
    check();
}

Knob::Verdict Knob::verdict() const {
    bool number = false;
    const double typed = parsed(field_->text(), &number);
    if (!number || (field_->isModified() && !isAllowed(scale(), typed))) return Verdict::Rejected;
    // The field shows four digits, and a slider's end may have more.
    const double shown = field_->isModified() ? typed : value();
    const bool usual = (scale().zero && shown == 0) || (shown >= scale().low && shown <= scale().high);
    return usual ? Verdict::Usual : Verdict::Unusual;
}

void Knob::check() {
    const Verdict now = verdict();
    if (now == verdict_) return;
    verdict_ = now;
    const QString allowed = allowedText(scale());
    field_->setToolTip(now == Verdict::Usual ? QString()
                       : now == Verdict::Rejected
                           ? tr("Allowed: %1").arg(allowed)
                           : tr("Outside the slider's range; allowed: %1").arg(allowed));
    colourField();
}

void Knob::colourField() {
    // Rejected values in the colour of bad values, unusual ones muted: hue belongs to the runs.
    const Theme theme = themeOf(palette());
    QPalette colours;
    if (verdict_ != Verdict::Usual)
        colours.setColor(QPalette::Text, verdict_ == Verdict::Rejected ? theme.bad : theme.muted);
    field_->setPalette(colours);
}

void Knob::changeEvent(QEvent* event) {
    KnobRow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && verdict_ != Verdict::Usual) colourField();
}

void Knob::commitText() {
    if (!field_->isModified()) return;
    bool number = false;
    const double typed = parsed(field_->text(), &number);
    field_->setModified(false);
    if (number && isAllowed(scale(), typed)) slider_->commit(typed);
    showValue();
}

}  // namespace normscope::widgets
