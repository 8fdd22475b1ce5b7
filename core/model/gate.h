// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

namespace normscope {

/// GPAS: P_g(x) = x − act(g)·sg(x) ([G] §3). Forward it multiplies by 1 − act(g); backward, with stop-gradient, by 1.
double gate_activation(GateActivation kind, double g);
double gate_derivative(GateActivation kind, double g);

}  // namespace normscope
