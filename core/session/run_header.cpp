// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_header.h"

namespace normscope {

RunData run_header(const RunData& run) {
    RunData bare;
    bare.id = run.id;
    bare.name = run.name;
    bare.recipe = run.recipe;
    bare.backend = run.backend;
    bare.device = run.device;
    bare.seed = run.seed;
    bare.outcome = run.outcome;
    static_cast<LossLevels&>(bare) = run;
    return bare;
}

}  // namespace normscope
