// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/presentation_controller.h"

#include "app/lab/lab.h"
#include "widgets/presentation/presentation.h"

namespace normscope::app {

void connectPresentation(Presentation& presentation, Lab& lab) {
    QObject::connect(&presentation, &Presentation::stepRequested, &lab, &Lab::setStep);
    const PresentationFoot* foot = presentation.foot();
    QObject::connect(foot, &PresentationFoot::playToggled, &lab, &Lab::togglePlay);
    QObject::connect(foot, &PresentationFoot::scrubbed, &lab, &Lab::setStep);
    QObject::connect(foot, &PresentationFoot::dragStarted, &lab, &Lab::beginDrag);
    QObject::connect(foot, &PresentationFoot::keyChanging, &lab, &Lab::dragKey);
    QObject::connect(foot, &PresentationFoot::keyCommitted, &lab, &Lab::commitKey);
}

}  // namespace normscope::app
