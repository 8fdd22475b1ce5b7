// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// The experiment of a completed recipe, with the weights of its plan.
std::unique_ptr<Experiment> buildExperiment(const Recipe& recipe, const RunPlan& plan,
                                            std::shared_ptr<const Corpus> corpus, Device& device);

/// The warnings about the weights; those about the stack are known to the caller. None from a device that
/// does not answer: the run's next step reports that.
std::vector<std::string> gateWarnings(const Experiment& experiment);

}  // namespace normscope::app
