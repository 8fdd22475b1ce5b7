// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/intervention_switch.h"

#include "app/lab/lab.h"

#include <QAction>
#include <algorithm>

namespace normscope::app {

InterventionSwitch::InterventionSwitch(Lab& lab, QAction& action, QObject* parent) : QObject(parent) {
    action.setCheckable(true);
    // Triggered by hand it is checked before the edit, and stays as it was where that is rejected.
    const auto show = [&lab, &action] {
        action.setChecked(!lab.comparison().selectedRun().recipe.interventions.empty());
    };
    show();
    connect(&lab, &Lab::runsChanged, this, show);
    connect(&lab, &Lab::viewChanged, this, show);
    connect(&lab, &Lab::problem, this, show);
}

void InterventionSwitch::toggle(Lab& lab) {
    const Recipe& recipe = lab.comparison().selectedRun().recipe;
    std::vector<InterventionSpec> list;
    if (recipe.interventions.empty()) {
        InterventionSpec spec;
        spec.cap = std::max(spec.cap, 10 * recipe.stack.norm.eps);  // else it could not act
        list.push_back(spec);
    }
    lab.knobs().setInterventions(list);
}

}  // namespace normscope::app
