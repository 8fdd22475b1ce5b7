// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace normscope::widgets {

/// States over the window what a drop would do, while something is dragged. It takes no mouse event.
class DropTarget : public QLabel {
    Q_OBJECT
  public:
    explicit DropTarget(QWidget* window);

    /// In the middle of `free`, in the window's coordinates.
    void showIn(const QRect& free, const QString& text);
};

}  // namespace normscope::widgets
