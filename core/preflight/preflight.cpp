// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/preflight.h"

#include "core/base/error.h"
#include "core/model/parameters.h"
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "core/run/memory_need.h"
#include "core/run/probe_steps.h"

#include <utility>

namespace normscope {

const char* preflight_theory_word(PreflightRow::Theory theory) {
    switch (theory) {
        case PreflightRow::Theory::None:
            return "";
        case PreflightRow::Theory::AtMost:
            return "at most";
        case PreflightRow::Theory::Threshold:
            return "threshold";
        case PreflightRow::Theory::Reference:
            return "reference";
    }
    return "";
}

const std::vector<std::string>& preflight_probes() {
    static const std::vector<std::string> probes{"growth",     "gradients", "jacobian", "lipschitz",
                                                 "null_space", "shift",     "mismatch"};
    return probes;
}

Preflight preflight(Recipe recipe, ThreadPool& pool, const std::atomic<bool>* cancel) {
    auto corpus = complete_and_validate(recipe);
    for (ProbePlan& probe : recipe.probes) probe.only.clear();  // its rows are about the whole stack
    Preflight result;
    result.parameters = ParameterTable(recipe.stack).size();
    if (result.parameters > kPreflightWeights)
        throw InputError("stack",
                         std::to_string(result.parameters) + " weights take longer than a pre-flight may",
                         "up to " + std::to_string(kPreflightWeights) + " weights");
    require_device(recipe, pool.threads(), cpu_device());
    Experiment experiment(recipe, "a", default_run_name(recipe), std::move(corpus));
    result.run = experiment.header();
    experiment.measure(preflight_probes(), pool, cancel,
                       [&](ProbeResult sample) { insert_sample(result.run, std::move(sample)); });
    result.sampled = sampled_text(probe_shape(recipe));
    result.sections = {well_posedness(recipe), forward_growth(result.run), backward_sensitivity(result.run),
                       uncertainty(result.run)};
    return result;
}

}  // namespace normscope
