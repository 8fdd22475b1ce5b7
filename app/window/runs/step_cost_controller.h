// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/studies/step_counter.h"
#include "widgets/common/throttle.h"

#include <QObject>

class QWidget;

namespace normscope::widgets {
class StepCostDrawer;
}

namespace normscope::app {

class Lab;

/// What limits a training step of the selected run on a card, over the panels. It is counted again where the
/// run or its recipe changes while the drawer is shown. Interface thread.
class StepCostController : public QObject {
    Q_OBJECT
  public:
    /// The drawer is a child of `window` and lies over `area`.
    StepCostController(Lab& lab, QWidget* area, QWidget* window);

    /// Opens it, or closes it.
    void toggle();

  private:
    void refresh();

    Lab& lab_;
    widgets::StepCostDrawer* drawer_;
    StepCounter counter_;
    widgets::Throttle later_;
    Recipe shown_;  ///< the recipe that was requested last
    QString name_, card_;
    bool requested_ = false;
};

}  // namespace normscope::app
