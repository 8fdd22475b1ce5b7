// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <nlohmann/json.hpp>

#include <string>

namespace normscope::app {

/// What a command made of a run.
struct RunResult {
    RunData run;            ///< as recorded; its outcome alone where nothing was
    std::string recording;  ///< the path; empty where there is none
};

/// The last line of `train --json`, described by docs/schemas/train.json: numbers of losses as in
/// results.csv of a sweep, null where not known. A function of the recording alone, so that a finished run
/// gives the same line again.
nlohmann::ordered_json json_of(const RunResult& result);

}  // namespace normscope::app
