// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

namespace normscope::app {

/// Lies over the right end of an area, in no layout: it shifts nothing. It follows the area's size; Esc hides
/// it. Hidden at first.
class Drawer : public QFrame {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not; `width` in pixels, at most that of the area.
    Drawer(QWidget* over, int width, QWidget* parent);

  protected:
    /// Shows it in front.
    void appear();
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void place();

    QWidget* over_;
    int width_;
};

}  // namespace normscope::app
