// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QHBoxLayout;
class QLabel;

namespace normscope::widgets {

class GlyphButton;

/// The parts common to every knob, on one line: label, a dot and a reset button where it differs from the
/// default, ⟳ where a change restarts a run, and ≠ where the compared runs differ. No part moves another.
class KnobRow : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 28;

    /// `name` is the accessible name, e.g. "residual step"; `label` the text in the row, e.g. "Δt".
    KnobRow(const QString& label, const QString& name, QWidget* parent = nullptr);

    void setRestarts(bool restarts);    ///< shows ⟳
    void setDiffering(bool differing);  ///< shows ≠
    bool isDiffering() const;
    bool isChanged() const;  ///< the value is not the default: dot and reset button are shown
    QString label() const;
    QWidget* editor() const { return editor_; }

  Q_SIGNALS:
    void resetRequested();

  protected:
    void setChanged(bool changed);
    /// The editor at the right end; it gets the row's accessible name, and the focus on clicks on the label.
    /// `wide`: it takes all the space right of the label.
    void setEditor(QWidget* editor, bool wide = false);
    /// Between label and editor; after setEditor().
    void setBody(QWidget* body);

  private:
    void showMarks();

    QLabel* dot_;
    QLabel* label_;
    QWidget* restart_;
    QLabel* differs_;
    GlyphButton* reset_;
    QHBoxLayout* line_;
    QWidget* editor_ = nullptr;
};

}  // namespace normscope::widgets
