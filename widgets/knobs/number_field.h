// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/knob_scale.h"

#include <QLineEdit>

namespace normscope::widgets {

/// The number of a knob as text. Takes every allowed value, also beyond the slider's ends; others are
/// rejected with the reason as a tooltip. A number is never cut off: it is written with fewer digits, and in
/// full in the tooltip. Esc discards an unfinished text; Space goes to the window.
class NumberField : public QLineEdit {
    Q_OBJECT
  public:
    explicit NumberField(QWidget* parent = nullptr);

    /// The setters send no signal; an unfinished text stays.
    void setScale(const KnobScale& scale);
    void setValue(double value);
    /// Shown in place of the value while the field has not the focus; empty: none.
    void setSummary(const QString& summary);
    /// The run whose line sample is drawn at the left; −1: none.
    void setRun(int run);
    /// Pixels at the right end that another widget covers.
    void setCovered(int width);

  Q_SIGNALS:
    void valueEntered(double value);  ///< an allowed one, after Return or on leaving the field

  protected:
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    enum class Verdict { Usual, Unusual, Rejected };
    void showValue();
    QString fittingText() const;
    Verdict verdict() const;
    void check();
    void colourText();
    void placeText();
    void commitText();

    KnobScale scale_;
    double value_ = 0;
    QString summary_;
    int run_ = -1, covered_ = 0;
    Verdict verdict_ = Verdict::Usual;
};

}  // namespace normscope::widgets
