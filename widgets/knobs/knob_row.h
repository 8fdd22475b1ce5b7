// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace normscope::widgets {

class GlyphButton;

/// Width of the editors that hold words rather than numbers, in pixels.
inline constexpr int kChoiceWidth = 116;

/// What every knob of the column has around its editor: label, a dot where it differs from the default and
/// the button that resets it, ⟳ where a change restarts a run, and ≠ where the compared runs do not
/// agree.
class KnobRow : public QWidget {
    Q_OBJECT
  public:
    /// `name` is the accessible name, e.g. "residual step"; `label` what stands in the row, e.g. "Δt".
    KnobRow(const QString& label, const QString& name, QWidget* parent = nullptr);

    void setRestarts(bool restarts);    ///< shows ⟳
    void setDiffering(bool differing);  ///< shows ≠
    bool isDiffering() const;
    bool isChanged() const;  ///< the value is not the default: dot and reset button are shown
    QString label() const;

  Q_SIGNALS:
    void resetRequested();

  protected:
    void setChanged(bool changed);
    /// The editor at the right end of the first line; it takes the row's accessible name, and the label its
    /// clicks.
    void setEditor(QWidget* editor);
    /// A second line.
    void setBody(QWidget* body);

  private:
    QLabel* dot_;
    QLabel* label_;
    QWidget* restart_;
    QLabel* differs_;
    GlyphButton* reset_;
    QHBoxLayout* line_;
    QVBoxLayout* lines_;
};

}  // namespace normscope::widgets
