// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QString>

namespace normscope::widgets {

/// The word for the state of a run, translated.
QString outcomeWord(RunState state);

}  // namespace normscope::widgets
