// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob.h"

#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/number_field.h"

namespace normscope::widgets {
namespace {

// From the window's tokens: slider, a gap, field; the reset button lies on the field's right end.
constexpr int kKnobFieldWidth = 64, kFieldHeight = 21, kKnobGap = 8, kReset = 14;
constexpr int kHalfHeight = 14, kHalfType = 11;  // of two fields below each other

}  // namespace

Knob::Knob(const QString& label, const QString& name, const KnobScale& scale, QWidget* parent)
    : KnobRow(label, name, parent),
      slider_(new KnobSlider(this)),
      fields_{new NumberField(this), new NumberField(this)} {
    slider_->setAccessibleName(name);
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
    for (std::size_t i = 0; i < fields_.size(); ++i)
        connect(fields_[i], &NumberField::valueEntered, this, [this, i](double value) { enter(i, value); });
    fields_[1]->hide();
    setScale(scale);
    placeParts();
    showValue();
}

// A focused field ends editing when its window is destroyed; the knob is a plain QWidget by then.
Knob::~Knob() {
    for (NumberField* field : fields_) field->disconnect(this);
}

void Knob::setScale(const KnobScale& scale) {
    slider_->setScale(scale);
    for (NumberField* field : fields_) field->setScale(scale);
}

void Knob::setValue(double value) {
    slider_->setValue(value);
    showValue();
}

void Knob::setDefaultValue(double value) {
    default_ = value;
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

std::size_t Knob::shownField() const {
    const auto& runs = comparison().fields;
    return runs.size() == 2 && runs[1].selected ? 1 : 0;
}

void Knob::showValue() {
    const auto& runs = comparison().fields;
    for (std::size_t i = 0; i < fields_.size(); ++i)
        fields_[i]->setValue(i == shownField() || i >= runs.size() ? value()
                                                                   : number_of(runs[i].value).value_or(0));
    setChanged(value() != default_);
}

void Knob::enter(std::size_t field, double entered) {
    const auto& runs = comparison().fields;
    if (field < runs.size()) {
        const double before = field == shownField() ? value() : number_of(runs[field].value).value_or(0);
        return Q_EMIT runValueCommitted(runs[field].run, before, entered);
    }
    slider_->commit(entered);
}

void Knob::showComparison() {
    const auto& [differs, runs, stops] = comparison();
    const bool range = runs.empty() && !stops.empty();
    slider_->setStops(stops, range);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const RunValue* of = i < runs.size() ? &runs[i] : nullptr;
        fields_[i]->setRun(of ? of->colour : -1);
        fields_[i]->setSummary(range ? stopsText(scale(), stops) : QString());
        fields_[i]->setCovered(isResetShown() ? kReset : 0);
        describe(fields_[i], of);
    }
    setEditor(field());
    showValue();
}

void Knob::place(const QRect& body) {
    const int left = body.right() + 1 - kKnobFieldWidth;
    const int y = (body.height() - slider_->sizeHint().height()) / 2;
    slider_->setGeometry(body.left(), y, left - kKnobGap - body.left(), slider_->sizeHint().height());
    const bool two = comparison().fields.size() == 2;
    QFont type = font();
    if (two) type.setPixelSize(kHalfType);
    for (NumberField* field : fields_) field->setFont(type);
    if (two) {
        fields_[0]->setGeometry(left, body.height() / 2 - kHalfHeight, kKnobFieldWidth, kHalfHeight);
        fields_[1]->setGeometry(left, body.height() / 2, kKnobFieldWidth, kHalfHeight);
    } else {
        fields_[0]->setGeometry(left, (body.height() - kFieldHeight) / 2, kKnobFieldWidth, kFieldHeight);
        if (fields_[1]->hasFocus()) fields_[0]->setFocus();
    }
    fields_[1]->setVisible(two);
}

}  // namespace normscope::widgets
