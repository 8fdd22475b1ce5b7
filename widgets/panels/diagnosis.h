// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QStringList>

namespace normscope::widgets {

/// What the recorded numbers say about a run at a step, in a few sentences for the right rail: how it ended,
/// what the gradient, the post norms, the hidden state, the end-to-end Jacobian and θ do. Only what was
/// measured is spoken of; unremarkable findings are left out.
QStringList diagnose(const RunData& run, std::int64_t step);

}  // namespace normscope::widgets
