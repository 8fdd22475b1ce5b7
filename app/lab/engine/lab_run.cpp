// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/lab_run.h"

#include "core/run/experiment.h"

#include <cmath>

namespace normscope::app {

LabRun makeRun(std::string id, const Recipe& recipe) {
    auto data = std::make_shared<RunData>();
    data->id = id;
    data->name = default_run_name(recipe);
    data->recipe = recipe;
    data->seed = recipe.train.seed;
    static_cast<LossLevels&>(*data) = {std::nan(""), std::nan(""), std::nan(""), std::nan(""), std::nan("")};
    LabRun run;
    run.id = std::move(id);
    run.recipe = run.live = recipe;
    run.data = std::move(data);
    return run;
}

LabRun stopped(LabRun run) {
    run.data = std::make_shared<RunData>(*run.data);
    if (run.trained())
        run.data->outcome = {RunState::Interrupted, run.lastStep(),
                             "stopped at step " + std::to_string(run.lastStep() + 1), -1};
    else
        run.data->outcome = {};
    run.training = 0;
    return run;
}

}  // namespace normscope::app
