// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

namespace normscope {

/// The run without steps, samples and events.
RunData run_header(const RunData& run);

}  // namespace normscope
