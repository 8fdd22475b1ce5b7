// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/operations.h"
#include "core/probe/interface/probe_input.h"
#include "core/probe/interface/probe_result.h"
#include "core/probe/interface/schema.h"

#include <vector>

namespace normscope {

/// The cost class of a probe; cheap ones run for every frame while a knob is dragged, the others follow.
enum class ProbeCost { Cheap, Medium, Expensive };

/// "cheap", "medium", "expensive".
const char* cost_word(ProbeCost cost);
/// "a forward and a backward pass", …
const char* needs_text(ProbeNeeds needs);

/// The row of a probe in the registry. Adding a probe takes its own file pair and one line there; the command
/// line, sessions and their validation, the documentation, panels and the cost meter read the rest from here.
/// A format that an entry of a recipe can choose (ProbePlan::formats), and its share of the probe's
/// operations.
struct FormatInfo {
    const char* name;
    double share;
};

struct ProbeInfo {
    const char* id;
    const char* title;
    const char* formula;  ///< of what it measures, in one line
    const char* source;   ///< the paper and the place in it; "ours" where there is none
    ProbeNeeds needs;     ///< enforced: its input provides nothing else
    ProbeCost cost;
    /// The cost of one sample in addition to the shared passes of its needs, in the unit of operations.h: a
    /// function of the shape alone, since the steps at which the probe is measured follow from it
    /// (cadence.h).
    double (*operations)(const ProbeShape&);
    ProbeResult (*run_float)(ProbeInput<float>&);
    ProbeResult (*run_double)(ProbeInput<double>&);
    std::vector<ArrayInfo> arrays;
    std::vector<LabelInfo> labels = {};
    bool by_default = true;                ///< included in a recipe that names no probes
    std::vector<FormatInfo> formats = {};  ///< arrays of a format that was not chosen are NaN
};

}  // namespace normscope
