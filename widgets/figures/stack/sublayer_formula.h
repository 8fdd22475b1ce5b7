// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/scheme.h"

#include <QString>

namespace normscope::widgets {

/// The formula of one sub-layer with the parts of its rule: "x' = N_post(x + Δt·attn(x))" and below it the
/// values, "Δt = 0.2". One form for every scheme: see SublayerRule.
QString sublayerFormula(const StackSpec& spec, int layer, Sublayer kind);

}  // namespace normscope::widgets
