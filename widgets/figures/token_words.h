// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QStringList>

namespace normscope::widgets {

/// The texts of the tokens of one of the probe batch's sequences, from 0, where a sample has them; else
/// empty.
QStringList tokenWords(const ProbeResult& sample, int sequence);

}  // namespace normscope::widgets
