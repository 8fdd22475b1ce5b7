// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

#include <span>
#include <string>
#include <vector>

namespace normscope {

/// How dear a probe is; cheap ones run with every picture while a knob is dragged, the others follow.
enum class ProbeCost { Cheap, Medium, Dear };

/// A probe: adding one takes its own file pair and one line of the registry; the command line, the session,
/// the panels and the cost meter pick it up from there.
struct ProbeInfo {
    const char* id;
    const char* title;
    const char* needs;  ///< "activations", "gradients", "tangents", "updates"
    ProbeCost cost;
    ProbeResult (*run_float)(ProbeInput<float>&);
    ProbeResult (*run_double)(ProbeInput<double>&);
    bool by_default = true;  ///< among the probes of a recipe that names none
};

std::span<const ProbeInfo> probe_registry();
std::vector<std::string> default_probes();           ///< ids of all but those too dear to run unasked
const ProbeInfo* find_probe(const std::string& id);  ///< nullptr when unknown

/// Runs one probe, stamps step and cost. May throw Cancelled.
template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input);

}  // namespace normscope
