// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/interventions/intervention.h"

#include <cstdint>
#include <vector>

namespace normscope {

/// The controller of the second code of [B]: where a layer's predicted error exceeds the 0.8 quantile of its
/// own past values, ε of its norms grows: ε ← min(cap, max(k·ε, floor)) with
/// k = 1 + 3(0.25 + 0.75·headroom)/(1 + 0.6·actions), headroom = (cap − ε)/(cap − ε₀), at least 0; actions:
/// the earlier ones of the layer. It begins after 24 measurements; at most two layers a measurement, the
/// ones furthest above their quantile, 24 actions a run and 6 a layer, 10 steps apart in a layer.
class NormEpsRisk final : public Intervention {
  public:
    static constexpr std::size_t kWarmUp = 24, kAtOnce = 2, kAtMost = 24, kPerLayer = 6;
    static constexpr std::int64_t kCooldown = 10;
    static constexpr double kQuantile = 0.8;
    /// The past is the last so many measurements, more than the runs of the paper have.
    static constexpr std::size_t kPast = 256;

    explicit NormEpsRisk(const InterventionSpec& spec) : spec_(spec) {}
    std::vector<double> eps(const InterventionInput& input) override;
    std::vector<double> state() const override;
    void restore(const std::vector<double>& state) override;

    /// The factor k.
    static double factor(double eps, double base, double cap, std::size_t actions);

  private:
    struct Layer {
        std::vector<double> past;
        std::size_t actions = 0;
        std::int64_t last_action = -kCooldown;
    };
    /// The layers to act on, at most kAtOnce.
    std::vector<std::size_t> exceeding(const std::vector<double>& risks, std::int64_t step) const;

    InterventionSpec spec_;
    std::vector<Layer> layers_;
};

}  // namespace normscope
