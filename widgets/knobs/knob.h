// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_row.h"
#include "widgets/knobs/knob_scale.h"

class QLineEdit;

namespace normscope::widgets {

class KnobSlider;

/// A number: slider and field. The field accepts every allowed value, also beyond the slider's ends; other
/// values are rejected with the reason as a tooltip and not committed.
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
    QLineEdit* field() const { return field_; }

  Q_SIGNALS:
    void dragStarted();
    void valueChanging(double value);  ///< every move of a drag
    /// At the end of a drag (once, also at the old value), after a key, a wheel step or an edit.
    void valueCommitted(double old_value, double new_value);
    void rangeMarked(double low, double high);  ///< Shift+drag on the slider

  protected:
    void changeEvent(QEvent* event) override;

  private:
    enum class Verdict { Usual, Unusual, Rejected };
    void showValue();
    Verdict verdict() const;
    void colourField();
    void check();
    void commitText();

    KnobSlider* slider_;
    QLineEdit* field_;
    double default_ = 0;
    Verdict verdict_ = Verdict::Usual;
};

}  // namespace normscope::widgets
