// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The loss over the steps between its three floors (uniform guess, unigram entropy, entropy rate), with how
/// each run ended. Options: quantity loss | val_accuracy (of images) | grad_norm | lr | temperature |
/// tokens_per_s; validation on | off; knobs on | off: changes of knobs as flags. A fork's curve begins at its
/// parent's, where that is drawn too.
PanelInfo trainingPanel();
Figure buildTraining(const PanelInput& input);

}  // namespace normscope::widgets
