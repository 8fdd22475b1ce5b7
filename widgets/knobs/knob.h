// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/knob_scale.h"
#include "widgets/knobs/knob_row.h"

#include <array>

namespace normscope::widgets {

class KnobSlider;
class NumberField;

/// A number: slider and field. Two runs that differ have a field each, below each other; the slider, which is
/// the shown run's, keeps its place. Several values are stops on its track, and a range in the field.
class Knob : public KnobRow {
    Q_OBJECT
  public:
    Knob(const QString& label, const QString& name, const KnobScale& scale, QWidget* parent = nullptr);
    ~Knob() override;

    /// The setters send no signal. setValue is ignored during a drag and while a text is unfinished.
    void setScale(const KnobScale& scale);
    void setValue(double value);
    void setDefaultValue(double value);
    double value() const;
    const KnobScale& scale() const;
    bool isDragging() const;
    KnobSlider* slider() const { return slider_; }
    /// Of the shown run.
    NumberField* field() const { return fields_[shownField()]; }
    /// Of the first and of the second run; the second is hidden where one field is enough.
    const std::array<NumberField*, 2>& fields() const { return fields_; }

  Q_SIGNALS:
    void dragStarted();
    void valueChanging(double value);  ///< every move of a drag
    /// At the end of a drag (once, also at the old value), after a key, a wheel step or an edit.
    void valueCommitted(double old_value, double new_value);
    void rangeMarked(double low, double high);  ///< Shift+drag on the slider

  protected:
    void place(const QRect& body) override;
    void showComparison() override;

  private:
    std::size_t shownField() const;
    void showValue();
    void enter(std::size_t field, double value);

    KnobSlider* slider_;
    std::array<NumberField*, 2> fields_;
    double default_ = 0;
};

}  // namespace normscope::widgets
