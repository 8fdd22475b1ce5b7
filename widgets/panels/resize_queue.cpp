// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/resize_queue.h"

#include "widgets/plots/plot_view.h"

namespace normscope::widgets {

ResizeQueue::ResizeQueue(QObject* parent) : QObject(parent) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &ResizeQueue::layOutNext);
}

void ResizeQueue::add(PlotView* plot) {
    if (!waiting_.contains(plot)) waiting_.append(plot);
    if (!timer_.isActive()) timer_.start(0);
}

void ResizeQueue::layOutNext() {
    if (const QPointer<PlotView> plot = waiting_.takeFirst()) plot->layOutResized();
    if (!waiting_.isEmpty()) timer_.start(0);
}

}  // namespace normscope::widgets
