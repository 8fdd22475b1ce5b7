// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_info.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

std::span<const ProbeInfo> probe_registry();
std::vector<std::string> default_probes();           ///< ids of all but those too expensive to run unasked
const ProbeInfo* find_probe(const std::string& id);  ///< nullptr when unknown

/// Runs probes in the order given; `done` hears each result, with step, cost and what was looked at (the
/// label `sampled`) stamped, as soon as it is there. The passes that they need run before the first of them
/// and are charged in equal parts to all that use them, so that a probe costs the same wherever it is in the
/// list. A probe that asks for a pass that its row does not declare ends in std::logic_error. May throw
/// Cancelled.
template <class T>
void run_probes(std::span<const ProbeInfo* const> probes, ProbeInput<T>& input,
                const std::function<void(ProbeResult)>& done);

/// The same for one probe alone.
template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input);

}  // namespace normscope
