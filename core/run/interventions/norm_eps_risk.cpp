// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/interventions/norm_eps_risk.h"

#include "core/base/error.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope {

double NormEpsRisk::factor(double eps, double base, double cap, std::size_t actions) {
    const double headroom = cap > base ? std::max(0.0, (cap - eps) / (cap - base)) : 0;
    return 1 + 3 * (0.25 + 0.75 * headroom) / (1 + 0.6 * static_cast<double>(actions));
}

std::vector<std::size_t> NormEpsRisk::exceeding(const std::vector<double>& risks, std::int64_t step) const {
    std::size_t done = 0;
    for (const Layer& layer : layers_) done += layer.actions;
    std::vector<std::pair<double, std::size_t>> above;  // how far, and the layer
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        const Layer& layer = layers_[l];
        if (layer.past.size() < kWarmUp || layer.actions >= kPerLayer) continue;
        if (step - layer.last_action < kCooldown) continue;
        std::vector<double> ascending = layer.past;
        std::sort(ascending.begin(), ascending.end());
        const double threshold = quantile(ascending, kQuantile);
        if (risks[l] > threshold) above.emplace_back(risks[l] / threshold, l);
    }
    std::stable_sort(above.begin(), above.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    above.resize(std::min({above.size(), kAtOnce, kAtMost - std::min(done, kAtMost)}));
    std::vector<std::size_t> layers;
    for (const auto& [ratio, layer] : above) layers.push_back(layer);
    return layers;
}

std::vector<double> NormEpsRisk::eps(const InterventionInput& input) {
    const std::vector<double> risks = input.risks(spec_.samples);
    layers_.resize(risks.size());
    std::vector<double> eps;
    for (const NormState& norm : input.norms) eps.push_back(norm.eps);
    for (const std::size_t l : exceeding(risks, input.step)) {
        for (std::size_t i = 0; i < eps.size(); ++i) {
            if (input.norms[i].layer != static_cast<int>(l)) continue;
            const double k = factor(eps[i], input.base_eps, spec_.cap, layers_[l].actions);
            eps[i] = std::max(eps[i], std::min(spec_.cap, std::max(k * eps[i], spec_.floor)));
        }
        ++layers_[l].actions;
        layers_[l].last_action = input.step;
    }
    for (std::size_t l = 0; l < risks.size(); ++l) {
        if (!std::isfinite(risks[l])) continue;
        std::vector<double>& past = layers_[l].past;
        if (past.size() == kPast) past.erase(past.begin());
        past.push_back(risks[l]);
    }
    return eps;
}

std::vector<double> NormEpsRisk::state() const {
    std::vector<double> state;
    for (const Layer& layer : layers_) {
        state.insert(state.end(), {static_cast<double>(layer.actions), static_cast<double>(layer.last_action),
                                   static_cast<double>(layer.past.size())});
        state.insert(state.end(), layer.past.begin(), layer.past.end());
    }
    return state;
}

void NormEpsRisk::restore(const std::vector<double>& state) {
    const auto foreign = [] {
        return InputError("checkpoint: the state of norm_eps_risk is not one of its own");
    };
    const auto whole = [&](double value, double low, double high) {
        if (!(value >= low && value <= high && value == std::floor(value))) throw foreign();
        return static_cast<std::int64_t>(value);
    };
    std::vector<Layer> layers;
    for (std::size_t at = 0; at < state.size();) {
        if (state.size() - at < 3) throw foreign();
        Layer layer;
        layer.actions = static_cast<std::size_t>(whole(state[at], 0, kPerLayer));
        layer.last_action = whole(state[at + 1], -static_cast<double>(kCooldown), 0x1p53);
        const auto count = static_cast<std::size_t>(whole(state[at + 2], 0, kPast));
        at += 3;
        if (state.size() - at < count) throw foreign();
        const auto first = state.begin() + static_cast<std::ptrdiff_t>(at);
        layer.past.assign(first, first + static_cast<std::ptrdiff_t>(count));
        at += count;
        layers.push_back(std::move(layer));
    }
    layers_ = std::move(layers);
}

template <>
std::unique_ptr<Intervention> intervention_of<InterventionKind::NormEpsRisk>(const InterventionSpec& spec) {
    return std::make_unique<NormEpsRisk>(spec);
}

}  // namespace normscope
