// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace normscope::widgets {

/// The unfolded part of a claim's row: the sentence of its result, residual and samples, the knob that
/// changes the outcome and the panel that draws the quantity.
class ClaimDetails : public QWidget {
    Q_OBJECT
  public:
    /// `key`: that changes the outcome, empty: none; `knob`: the label of its knob, empty: the window has
    /// none. `panel`: the title of its panel, empty: none.
    ClaimDetails(const QString& key, const QString& knob, const QString& panel, QWidget* parent);

    /// Null: not measured.
    void setResult(const ClaimResult* result);
    /// The height for a width, in px.
    int heightFor(int width) const;
    /// Those that there are, in their order.
    QList<QPushButton*> buttons() const;
    QPushButton* knob() const { return knob_; }
    QPushButton* showButton() const { return show_; }
    QString text() const;

  Q_SIGNALS:
    void knobRequested();
    void showRequested();

  private:
    QLabel *sentence_, *numbers_;
    QPushButton *knob_ = nullptr, *show_ = nullptr;
};

}  // namespace normscope::widgets
