// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <functional>

namespace normscope::widgets {

/// Three neutral rings around a control that is to be used next: they run outwards for 1.2 s, then stop. It
/// lies over the window and takes no mouse events.
class Pulse : public QWidget {
    Q_OBJECT
  public:
    explicit Pulse(QWidget* window);

    /// Around this point of a widget of the window; nullptr: none. Hidden while the widget is.
    void show(QWidget* target, std::function<QPointF()> centre);
    QWidget* target() const { return target_; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void follow();

    QPointer<QWidget> target_;
    std::function<QPointF()> centre_;
    QElapsedTimer since_;
    QTimer timer_;
};

}  // namespace normscope::widgets
