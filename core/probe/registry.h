// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/operations.h"
#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

#include <functional>
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
    ProbeNeeds needs;
    ProbeCost cost;
    /// What one sample takes besides the shared passes of its needs, in the unit of operations.h: a function of the
    /// shape alone, since the steps at which the probe is measured follow from it (cadence.h).
    double (*operations)(const ProbeShape&);
    ProbeResult (*run_float)(ProbeInput<float>&);
    ProbeResult (*run_double)(ProbeInput<double>&);
    bool by_default = true;  ///< among the probes of a recipe that names none
};

std::span<const ProbeInfo> probe_registry();
std::vector<std::string> default_probes();           ///< ids of all but those too dear to run unasked
const ProbeInfo* find_probe(const std::string& id);  ///< nullptr when unknown

/// Runs probes in the order given; `done` hears each result, with step, cost and what was looked at (the label
/// `sampled`) stamped, as soon as it is there. The passes that they need run before the first of them and are charged
/// in equal parts to all that use them, so that a probe costs the same wherever it stands. May throw Cancelled.
template <class T>
void run_probes(std::span<const ProbeInfo* const> probes, ProbeInput<T>& input,
                const std::function<void(ProbeResult)>& done);

/// The same for one probe alone.
template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input);

}  // namespace normscope
