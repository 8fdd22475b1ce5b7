// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QPointer>
#include <QTimer>

namespace normscope::widgets {

class PlotView;

/// Lays out resized plots one at a time, in the order in which they were resized. Between two of them the
/// event loop handles what else has arrived: four plots in one resize event held it up for longer than a
/// frame. Interface thread only.
class ResizeQueue : public QObject {
    Q_OBJECT
  public:
    explicit ResizeQueue(QObject* parent = nullptr);

    /// A plot that waits already keeps its place. A deleted plot has no turn.
    void add(PlotView* plot);

  private:
    void layOutNext();

    QList<QPointer<PlotView>> waiting_;
    QTimer timer_;
};

}  // namespace normscope::widgets
