// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QStringList>

namespace normscope::widgets {

/// The findings about a run at a step for the right rail: outcome, gradient, post norms, hidden state,
/// end-to-end Jacobian and θ. Measured quantities only; unremarkable findings are omitted.
QStringList diagnose(const RunData& run, std::int64_t step);

}  // namespace normscope::widgets
