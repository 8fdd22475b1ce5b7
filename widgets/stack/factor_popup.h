// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/scheme.h"

#include <QFrame>
#include <optional>

class QLineEdit;

namespace normscope::widgets {

/// A popup for the factors of one sub-layer: a of the shortcut, b of the branch. An empty field means the
/// scheme's value, shown in grey. Enter sets both and closes, Esc or a click elsewhere only closes;
/// non-finite values are rejected. Deletes itself when it closes.
class FactorPopup : public QFrame {
    Q_OBJECT
  public:
    /// `manual` and `by_scheme` of the sub-layer `name`; without `shortcut` it has no a of its own.
    FactorPopup(const QString& name, const RuleOverride& manual, const SublayerRule& by_scheme, bool shortcut,
                QWidget* parent);

    QLineEdit* fieldA() const { return a_; }
    QLineEdit* fieldB() const { return b_; }

  Q_SIGNALS:
    /// Without a value: as in the scheme.
    void committed(std::optional<double> a, std::optional<double> b);

  private:
    void commit();

    QLineEdit *a_, *b_;
};

}  // namespace normscope::widgets
