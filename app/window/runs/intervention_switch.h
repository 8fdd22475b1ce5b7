// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QAction;

namespace normscope::app {

class Lab;

/// The command that raises ε of ε-dominated norms while a run trains: checked where the selected run does so.
/// Interface thread.
class InterventionSwitch : public QObject {
    Q_OBJECT
  public:
    InterventionSwitch(Lab& lab, QAction& action, QObject* parent);

    /// On where the selected run has no interventions, else off. A rule that a run cannot have is reported as
    /// any other edit's problem.
    static void toggle(Lab& lab);
};

}  // namespace normscope::app
