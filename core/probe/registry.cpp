// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/registry.h"

#include "core/base/assert.h"
#include "core/probe/attention_rows.h"
#include "core/probe/gates.h"
#include "core/probe/gradients.h"
#include "core/probe/growth.h"
#include "core/probe/importance.h"
#include "core/probe/interface/places.h"
#include "core/probe/jacobian.h"
#include "core/probe/lipschitz.h"
#include "core/probe/null_space.h"
#include "core/probe/paths.h"
#include "core/probe/precision/fragility.h"
#include "core/probe/precision/mismatch.h"
#include "core/probe/precision/ranges.h"
#include "core/probe/residual.h"
#include "core/probe/shift.h"
#include "core/probe/spectra.h"
#include "core/probe/theta.h"
#include "core/probe/tokens.h"
#include "core/probe/transport.h"
#include "core/probe/updates.h"
#include "core/probe/weights.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace normscope {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Restricts an input to a probe's declared needs and its selection while the probe runs.
template <class T>
class Narrowed {
  public:
    Narrowed(ProbeInput<T>& input, ProbeNeeds needs, const PlaceSelection* selection) : input_(input) {
        input_.allow(needs);
        input_.select(selection);
    }
    ~Narrowed() {
        input_.allow(std::nullopt);
        input_.select(nullptr);
    }
    Narrowed(const Narrowed&) = delete;
    Narrowed& operator=(const Narrowed&) = delete;

  private:
    ProbeInput<T>& input_;
};

}  // namespace

std::span<const ProbeInfo> probe_registry() {
    static const std::vector<ProbeInfo> all{
        growth_probe(),      //
        gradients_probe(),   //
        residual_probe(),    //
        updates_probe(),     //
        null_space_probe(),  //
        tokens_probe(),      //
        mismatch_probe(),    //
        attention_probe(),   //
        theta_probe(),       //
        jacobian_probe(),    //
        spectra_probe(),     //
        gates_probe(),       //
        weights_probe(),     //
        lipschitz_probe(),   //
        importance_probe(),  //
        shift_probe(),       //
        paths_probe(),       //
        transport_probe(),   //
        fragility_probe(),   //
        ranges_probe(),
    };
    return all;
}

std::vector<std::string> default_probes() {
    std::vector<std::string> ids;
    for (const auto& probe : probe_registry())
        if (probe.by_default) ids.emplace_back(probe.id);
    return ids;
}

const ProbeInfo* find_probe(const std::string& id) {
    for (const auto& probe : probe_registry())
        if (id == probe.id) return &probe;
    return nullptr;
}

template <class T>
void run_probes(std::span<const ProbeInfo* const> probes, ProbeInput<T>& input,
                const std::function<void(ProbeResult)>& done) {
    const auto users = [&](const auto& wanted) {
        return static_cast<double>(std::count_if(probes.begin(), probes.end(),
                                                 [&](const ProbeInfo* p) { return wanted(p->needs); }));
    };
    double forward_ms = 0, backward_ms = 0;
    bool backward_ran = false;
    if (const double n = users(needs_forward); n > 0) {
        const auto start = Clock::now();
        input.tape();
        forward_ms = milliseconds_since(start) / n;
    }
    for (const ProbeInfo* probe : probes) {
        input.check_cancelled();
        // Not earlier: results of the forward pass alone need not wait for it.
        if (needs_backward(probe->needs) && !std::exchange(backward_ran, true)) {
            const auto start = Clock::now();
            input.backward();
            backward_ms = milliseconds_since(start) / users(needs_backward);
        }
        const auto start = Clock::now();
        ProbeResult result;
        const auto only = input.only.find(probe->id);
        const PlaceSelection* selection =
            only != input.only.end() && has_places(*probe) ? &only->second : nullptr;
        const Narrowed declared(input, probe->needs, selection);
        if constexpr (std::is_same_v<T, float>)
            result = probe->run_float(input);
        else
            result = probe->run_double(input);
        if (selection) apply_selection(*probe, *selection, result);
        if (const auto chosen = input.formats.find(probe->id); chosen != input.formats.end())
            result.labels["formats"] = chosen->second;
        result.probe = probe->id;
        result.step = input.step;
        result.cost_ms = milliseconds_since(start) + (needs_forward(probe->needs) ? forward_ms : 0) +
                         (needs_backward(probe->needs) ? backward_ms : 0);
        // A probe that measures less than the whole probe batch has set the label itself.
        result.labels.try_emplace("sampled", std::vector<std::string>{input.sampled});
        for ([[maybe_unused]] const NamedArray& array : result.arrays) {
            NORMSCOPE_ASSERT(array.axes.size() == array.shape.size(), "every axis has a name");
            NORMSCOPE_ASSERT(array.data.size() == std::accumulate(array.shape.begin(), array.shape.end(),
                                                                  std::size_t{1}, std::multiplies<>()),
                             "an array has the values of its shape");
        }
        done(std::move(result));
    }
}
template void run_probes<float>(std::span<const ProbeInfo* const>, ProbeInput<float>&,
                                const std::function<void(ProbeResult)>&);
template void run_probes<double>(std::span<const ProbeInfo* const>, ProbeInput<double>&,
                                 const std::function<void(ProbeResult)>&);

template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input) {
    ProbeResult result;
    const ProbeInfo* const one[] = {&probe};
    run_probes<T>(one, input, [&](ProbeResult r) { result = std::move(r); });
    return result;
}
template ProbeResult run_probe<float>(const ProbeInfo&, ProbeInput<float>&);
template ProbeResult run_probe<double>(const ProbeInfo&, ProbeInput<double>&);

}  // namespace normscope
