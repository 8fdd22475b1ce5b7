// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_comparison.h"

#include <QWidget>

class QLabel;

namespace normscope::widgets {

class GlyphButton;

/// The parts common to every knob, on one line: a dot and a reset button where it differs from the default,
/// label, ⟳ where a change restarts a run, and right of them the editor's part, the body. Where the compared
/// runs differ, it has a field a run (KnobComparison). No part moves another.
class KnobRow : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 28;

    /// `name` is the accessible name, e.g. "residual step"; `label` the text in the row, e.g. "Δt".
    KnobRow(const QString& label, const QString& name, QWidget* parent = nullptr);

    void setRestarts(bool restarts);  ///< shows ⟳
    /// Sends no signal.
    void setComparison(const KnobComparison& comparison);
    const KnobComparison& comparison() const { return comparison_; }
    /// Whether the fields of two runs are in use, and stay although the runs agree now.
    virtual bool holdsFields() const { return false; }
    bool isChanged() const { return changed_; }  ///< the value is not the default: dot and reset button
    QString label() const;
    QWidget* editor() const { return editor_; }

  Q_SIGNALS:
    void resetRequested();
    /// From the field of one run, and to be applied to that run alone.
    void runValueCommitted(int run, const normscope::FieldValue& old_value,
                           const normscope::FieldValue& new_value);

  protected:
    void setChanged(bool changed);
    /// It gets the focus on clicks on the label.
    void setEditor(QWidget* editor);
    /// Names a field after the row, and after the run that it is of.
    void describe(QWidget* field, const RunValue* of) const;
    /// Pixels at the right end that the reset button leaves free.
    void setResetInset(int inset) { reset_inset_ = inset; }
    bool isResetShown() const;

    /// Sets the geometry of the parts in the body.
    virtual void place(const QRect& body) = 0;
    /// Shows comparison() and isChanged().
    virtual void showComparison() = 0;
    void placeParts();

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    QLabel* label_;
    GlyphButton* reset_;
    QWidget* editor_ = nullptr;
    KnobComparison comparison_;
    int reset_inset_ = 0;
    bool changed_ = false, restarts_ = false;
};

}  // namespace normscope::widgets
