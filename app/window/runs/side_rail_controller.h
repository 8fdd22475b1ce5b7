// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"

#include <QObject>

namespace normscope::widgets {
class SideRail;
}

namespace normscope::app {

class Lab;

/// Keeps the right rail up to date while it is visible, a few times a second: the diagnosis reads every
/// probe. Interface thread.
class SideRailController : public QObject {
    Q_OBJECT
  public:
    /// A child of `rail`.
    SideRailController(Lab& lab, widgets::SideRail& rail);

  private:
    void refresh();

    Lab& lab_;
    widgets::SideRail& rail_;
    widgets::Throttle later_;
};

}  // namespace normscope::app
