// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/experiments.h"

#include "core/base/error.h"
#include "core/stack/warnings.h"

#include <algorithm>

namespace normscope::app {

std::vector<std::string> gateWarnings(const Experiment& experiment) {
    std::vector<std::string> lines;
    try {
        lines = experiment.warnings();
    } catch (const SystemError&) {
        return {};
    }
    const std::vector<std::string> of_stack = warnings(experiment.recipe().stack);
    std::erase_if(lines, [&](const std::string& line) {
        return std::find(of_stack.begin(), of_stack.end(), line) != of_stack.end();
    });
    return lines;
}

std::unique_ptr<Experiment> buildExperiment(const Recipe& recipe, const RunPlan& plan,
                                            std::shared_ptr<const Corpus> corpus, Device& device) {
    auto experiment = std::make_unique<Experiment>(recipe, plan.id, plan.name, std::move(corpus), device);
    if (plan.weights && !plan.start) experiment->load_weights(plan.weights->tensors, plan.weights->source);
    return experiment;
}

}  // namespace normscope::app
