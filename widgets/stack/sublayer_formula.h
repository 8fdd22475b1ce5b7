// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/scheme.h"

#include <QString>

namespace normscope::widgets {

/// What one sub-layer computes, as its rule says, with only what is there:
/// "x' = N_post(x + Δt·attn(x))" and below it the numbers, "Δt = 0.2". One form for every scheme: see
/// SublayerRule.
QString sublayerFormula(const StackSpec& spec, int layer, Sublayer kind);

}  // namespace normscope::widgets
