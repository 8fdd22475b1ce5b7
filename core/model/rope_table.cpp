// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace normscope {

namespace {

double llama3_frequency(const RopeScaling& s, double f) {
    const double turns = f * s.original_context / (2 * std::numbers::pi);
    if (turns < s.low_frequency) return f / s.factor;
    if (turns > s.high_frequency) return f;
    const double kept = (turns - s.low_frequency) / (s.high_frequency - s.low_frequency);
    return (1 - kept) * f / s.factor + kept * f;
}

/// What part of each pair's frequency is kept.
class YarnRamp {
  public:
    explicit YarnRamp(const StackSpec& spec) {
        const double width = 2.0 * spec.rotary_pairs();
        const auto pair = [&](double turns) {
            return width * std::log(spec.rope_scaling.original_context / (turns * 2 * std::numbers::pi)) /
                   (2 * std::log(spec.rope_base));
        };
        first_ = std::max(std::floor(pair(spec.rope_scaling.beta_fast)), 0.0);
        last_ = std::min(std::ceil(pair(spec.rope_scaling.beta_slow)), width - 1);
        if (last_ == first_) last_ += 0.001;
    }
    double kept(double pair) const { return 1 - std::clamp((pair - first_) / (last_ - first_), 0.0, 1.0); }

  private:
    double first_, last_;
};

double amplitude(const RopeScaling& s) {
    if (s.kind != RopeScalingKind::Yarn) return 1;
    if (s.attention_factor > 0) return s.attention_factor;
    return s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1;
}

}  // namespace

std::vector<double> rope_frequencies(const StackSpec& spec) {
    const RopeScaling& s = spec.rope_scaling;
    const YarnRamp ramp(spec);
    std::vector<double> frequencies(static_cast<std::size_t>(spec.d_head()) / 2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(spec.rotary_pairs()); ++i) {
        const double pair = static_cast<double>(i), f = std::pow(spec.rope_base, -pair / spec.rotary_pairs());
        double& scaled = frequencies[i] = f;
        switch (s.kind) {
            case RopeScalingKind::Off:
                break;
            case RopeScalingKind::Linear:
                scaled = f / s.factor;
                break;
            case RopeScalingKind::Llama3:
                scaled = llama3_frequency(s, f);
                break;
            case RopeScalingKind::Yarn: {
                const double kept = ramp.kept(pair);
                scaled = (1 - kept) * f / s.factor + kept * f;
            }
        }
    }
    return frequencies;
}

namespace {

/// One table of [context, d_h].
template <class T>
std::vector<T> angles_of(const StackSpec& spec) {
    const auto width = static_cast<std::size_t>(spec.d_head()), half = width / 2;
    const std::vector<double> frequencies = rope_frequencies(spec);
    std::vector<T> table(static_cast<std::size_t>(spec.context) * width);
    for (std::size_t i = 0; i < half; ++i) {
        const bool turns = i < static_cast<std::size_t>(spec.rotary_pairs());
        const double size = turns ? amplitude(spec.rope_scaling) : 1;
        for (std::size_t t = 0; t < static_cast<std::size_t>(spec.context); ++t) {
            const double angle = static_cast<double>(t) * frequencies[i];
            table[t * width + i] = static_cast<T>(size * std::cos(angle));
            table[t * width + half + i] = static_cast<T>(size * std::sin(angle));
        }
    }
    return table;
}

}  // namespace

template <class T>
std::vector<T> rope_table(const StackSpec& spec) {
    if (spec.position != Position::Rope) return {};
    std::vector<T> table = angles_of<T>(spec);
    if (spec.rope_global_every == 1) return table;
    StackSpec local = spec;
    local.rope_base = spec.rope_local_base;
    local.rope_scaling = {};
    const std::vector<T> of_local = angles_of<T>(local);
    table.insert(table.end(), of_local.begin(), of_local.end());
    return table;
}
template std::vector<float> rope_table<float>(const StackSpec&);
template std::vector<double> rope_table<double>(const StackSpec&);

}  // namespace normscope
