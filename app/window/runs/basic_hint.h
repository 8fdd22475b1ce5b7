// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QLabel;

namespace normscope::app {

class Lab;

/// Keeps the sentence of the basic window: what can be done now. Interface thread.
class BasicHint : public QObject {
    Q_OBJECT
  public:
    /// Hidden at first.
    BasicHint(const Lab& lab, QWidget* parent);
    QLabel* label() const { return label_; }

  private:
    void follow();

    const Lab& lab_;
    QLabel* label_;
};

}  // namespace normscope::app
