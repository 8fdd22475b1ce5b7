// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/growth_bounds.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace normscope {
namespace {

double require_size(double value, const std::string& where) {
    if (!(value >= 0 && std::isfinite(value)))
        throw InputError(where, std::to_string(value), "finite numbers >= 0");
    return value;
}

double entries(std::size_t tokens, std::size_t width) {
    if (tokens == 0 || width == 0) throw InputError("shape", "no entries", "tokens and width >= 1");
    return static_cast<double>(tokens) * static_cast<double>(width);
}

/// Δt|b|√(nd)·r, [K] eq. 112.
double branch_bound(const BoundedSublayer& s, double entry_count, const std::string& where) {
    return require_size(s.step, where + ".step") * require_size(s.branch_scale, where + ".branch_scale") *
           std::sqrt(entry_count) *
           (s.output_norm ? require_size(s.gamma_max, where + ".gamma_max") +
                                require_size(s.beta_max, where + ".beta_max")
                          : require_size(s.branch_rms, where + ".branch_rms"));
}

std::string sublayer_name(std::size_t k) {
    return "sublayers[" + std::to_string(k) + "]";
}

}  // namespace

std::vector<double> bounded_branch_norms(double initial_norm, std::size_t tokens, std::size_t width,
                                         std::span<const BoundedSublayer> sublayers) {
    const double entry_count = entries(tokens, width);
    std::vector<double> bounds{require_size(initial_norm, "initial_norm")};
    for (std::size_t k = 0; k < sublayers.size(); ++k) {
        const BoundedSublayer& s = sublayers[k];
        const std::string where = sublayer_name(k);
        bounds.push_back(require_size(s.gate_scale, where + ".gate_scale") *
                         (require_size(s.shortcut_scale, where + ".shortcut_scale") * bounds.back() +
                          branch_bound(s, entry_count, where)));
    }
    return bounds;
}

std::vector<double> output_norm_bounds_uniform(double initial_norm, std::size_t tokens, std::size_t width,
                                               std::span<const BoundedSublayer> sublayers) {
    const double entry_count = entries(tokens, width);
    BoundedSublayer largest{0, 0, 0, 0, 1, 1};
    for (std::size_t k = 0; k < sublayers.size(); ++k) {
        const BoundedSublayer& s = sublayers[k];
        branch_bound(s, entry_count, sublayer_name(k));  // checks the values
        if (!s.output_norm)
            throw InputError(sublayer_name(k), "no output norm", "sub-layers with an output norm");
        if (s.gate_scale != 1 || s.shortcut_scale != 1)
            throw InputError(sublayer_name(k), "a gated or scaled residual",
                             "gate_scale = shortcut_scale = 1");
        largest.step = std::max(largest.step, s.step);
        largest.branch_scale = std::max(largest.branch_scale, s.branch_scale);
        largest.gamma_max = std::max(largest.gamma_max, s.gamma_max);
        largest.beta_max = std::max(largest.beta_max, s.beta_max);
    }
    const std::vector<BoundedSublayer> uniform(sublayers.size(), largest);
    return bounded_branch_norms(initial_norm, tokens, width, uniform);
}

double mean_absolute_bound(double norm_bound, std::size_t tokens, std::size_t width) {
    return require_size(norm_bound, "norm_bound") / std::sqrt(entries(tokens, width));
}

double variance_bound(double norm_bound, std::size_t tokens, std::size_t width) {
    const double entry_count = entries(tokens, width);
    if (entry_count < 2) throw InputError("shape", "one entry has no variance", "tokens · width >= 2");
    return require_size(norm_bound, "norm_bound") * norm_bound / (entry_count - 1);
}

std::vector<double> pre_norm_bounds(double initial_norm, std::size_t context, std::size_t width,
                                    std::span<const PreNormSublayer> sublayers) {
    entries(context, width);
    std::vector<double> bounds{require_size(initial_norm, "initial_norm")};
    for (std::size_t i = 0; i < sublayers.size(); ++i) {
        const PreNormSublayer& s = sublayers[i];
        const std::string where = sublayer_name(i);
        const auto size = [&](double value, const char* name) {
            return require_size(value, where + "." + name);
        };
        const double token_norm = size(s.smallest_token_norm, "smallest_token_norm"),
                     eps = size(s.eps, "eps");
        if (token_norm == 0 && eps == 0)
            throw InputError(where + ".smallest_token_norm", "0 at eps 0: the norm is undefined",
                             "one of them > 0");
        const double mixing = s.mixes_tokens ? std::sqrt(static_cast<double>(context)) : 1;
        const double d = static_cast<double>(width);
        const double branch = size(s.step, "step") * size(s.branch_scale, "branch_scale") * mixing *
                              std::sqrt(d) * size(s.gamma_max, "gamma_max") * size(s.gain, "gain") /
                              std::sqrt(token_norm * token_norm + d * eps);
        bounds.push_back(size(s.gate_scale, "gate_scale") *
                         (size(s.shortcut_scale, "shortcut_scale") + branch) * bounds.back());
    }
    return bounds;
}

double gpas_variance_step(double variance, double gate_activation) {
    const double sigma = std::sqrt(require_size(variance, "variance"));
    if (!std::isfinite(gate_activation)) throw InputError("gate_activation", "not finite", "finite numbers");
    const double scale = 1 - gate_activation;
    return scale * scale * (variance + sigma);
}

}  // namespace normscope
