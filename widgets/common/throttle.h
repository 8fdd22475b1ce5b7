// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>

namespace normscope::widgets {

/// Limits how often something is updated: `update` is called once, `interval` milliseconds after the first
/// request since it was called last. In the thread of its parent.
class Throttle : public QObject {
    Q_OBJECT
  public:
    Throttle(QObject* parent, int interval, std::function<void()> update);

    void request();
    /// Where the update was made at once: none follows.
    void cancel();
    bool isDue() const;

  private:
    QTimer timer_;
};

}  // namespace normscope::widgets
