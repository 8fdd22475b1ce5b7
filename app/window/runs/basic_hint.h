// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace normscope::app {

class Lab;

/// The sentence of the basic window: what can be done now. Interface thread.
class BasicHint : public QLabel {
    Q_OBJECT
  public:
    BasicHint(const Lab& lab, QWidget* parent);

  private:
    void follow();

    const Lab& lab_;
};

}  // namespace normscope::app
