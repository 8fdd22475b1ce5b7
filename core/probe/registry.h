// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

std::span<const ProbeInfo> probe_registry();
std::vector<std::string> default_probes();           ///< ids of all but those too expensive by default
const ProbeInfo* find_probe(const std::string& id);  ///< nullptr when unknown

/// Runs probes in the order given; `done` is called with each result, with step, cost and the label
/// `sampled`. The passes that they need run before the first of them and their cost is divided equally among
/// their users, so that the cost of a probe does not depend on the order. Under ProbeInput::only a probe
/// skips the work of the other places; their entries are NaN, the others are the same bits. A probe that
/// uses an undeclared pass throws std::logic_error. May throw Cancelled.
template <class T>
void run_probes(std::span<const ProbeInfo* const> probes, ProbeInput<T>& input,
                const std::function<void(ProbeResult)>& done);

/// The same for one probe alone.
template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input);

}  // namespace normscope
