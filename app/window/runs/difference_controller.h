// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"

#include <QObject>
#include <string>

class QWidget;

namespace normscope::widgets {
class DifferenceDrawer;
}

namespace normscope::app {

class Lab;

/// Where two runs of the comparison differ, over the panels: the selected run and the one after it, until
/// others are chosen. It follows them while it is shown; during training only where comparing them is quick.
/// Interface thread.
class DifferenceController : public QObject {
    Q_OBJECT
  public:
    /// The drawer is a child of `window` and lies over `area`.
    DifferenceController(Lab& lab, QWidget* area, QWidget* window);

    widgets::DifferenceDrawer* drawer() const { return drawer_; }
    /// Opens it, or closes it.
    void toggle();

  private:
    void refresh();
    /// The index of a run; −1 where the comparison no longer has it.
    int indexOf(const std::string& id) const;

    Lab& lab_;
    widgets::DifferenceDrawer* drawer_;
    widgets::Throttle later_;
    std::string a_, b_;   ///< ids
    qint64 took_ms_ = 0;  ///< the last comparison
};

}  // namespace normscope::app
