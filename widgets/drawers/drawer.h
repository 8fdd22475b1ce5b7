// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/focus_return.h"

#include <QFrame>

namespace normscope::widgets {

/// Lies over the right end of an area, in no layout: it shifts nothing. It follows the area's size; Esc hides
/// it. Hidden at first; one drawer of a window is shown at a time.
class Drawer : public QFrame {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not; `width` in pixels, at most that of the area.
    Drawer(QWidget* over, int width, QWidget* parent);
    void setVisible(bool visible) override;

  Q_SIGNALS:
    void shown();
    void hidden();

  protected:
    /// Shows it in front, and hides the others of its parent.
    void appear();
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    void place();

    QWidget* over_;
    int width_;
    FocusReturn focus_;
};

}  // namespace normscope::widgets
