// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/null_space.h"

#include "core/base/statistics.h"
#include "core/probe/interface/jackknife.h"
#include "core/theory/norm_jacobian.h"
#include "core/theory/norm_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace normscope {

namespace {

template <class T>
std::vector<double> widened(const T* values, std::size_t count) {
    return std::vector<double>(values, values + count);
}

/// The branches of one or two sub-layers as added to the stream, Δt·b·λ∘y, from the tape, row by row. A gate
/// on the branch is omitted: it scales all branches of a layer equally and does not change a share.
template <class T>
class JoinedBranches {
  public:
    JoinedBranches(const Transformer<T>& model, const Tape<T>& tape, int sublayer)
        : sum_(static_cast<std::size_t>(model.spec().d_model)) {
        const auto k = static_cast<std::size_t>(sublayer);
        if (model.spec().layout == Layout::Parallel) add(model, tape, k - 1);
        add(model, tape, k);
    }

    /// [d] of one row; valid until the next call.
    const double* at(std::size_t row) {
        const std::size_t d = sum_.size();
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (const Part& part : parts_) {
            const T* f = part.f.data() + row * d;
            const double mean = part.mean.data() ? static_cast<double>(part.mean[row]) : 0;
            const double rstd = part.rstd.data() ? static_cast<double>(part.rstd[row]) : 1;
            for (std::size_t i = 0; i < d; ++i)
                sum_[i] += (static_cast<double>(f[i]) - mean) * rstd * part.factor[i] + part.shift[i];
        }
        return sum_.data();
    }

  private:
    /// factor = Δt·b·λ∘γ and shift = Δt·b·λ∘β of the output norm; without one γ = 1, β = 0.
    struct Part {
        HostView<T> f, mean, rstd;  ///< the statistics: of the output norm, else empty
        std::vector<double> factor, shift;
    };

    void add(const Transformer<T>& model, const Tape<T>& tape, std::size_t k) {
        const std::size_t d = sum_.size();
        const SublayerRule& rule = model.rules()[k];
        const SublayerTape<T>& t = tape.sublayers[k];
        const SublayerOffsets& at =
            k % 2 == 0 ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                       : static_cast<const SublayerOffsets&>(model.table().feed_forward[k / 2]);
        const HostView<T> parameters = model.host_parameters();
        const auto parameter = [&](std::size_t offset, std::size_t i, double otherwise) {
            return offset == kAbsent ? otherwise : static_cast<double>(parameters[offset + i]);
        };
        const auto rows = static_cast<std::size_t>(tape.rows());
        const std::size_t stride = model.spec().branch_scale == BranchScale::Channel ? 1 : 0;
        Part part{tape.view(t.f, rows * d), {}, {}, std::vector<double>(d), std::vector<double>(d)};
        if (rule.out) {
            part.mean = tape.view(t.out.mean, rows);
            part.rstd = tape.view(t.out.rstd, rows);
        }
        for (std::size_t i = 0; i < d; ++i) {
            const double scale = model.numerics.residual_step * rule.b * parameter(at.scale, stride * i, 1);
            part.factor[i] = scale * (rule.out ? parameter(at.norm_out.weight, i, 1) : 1);
            part.shift[i] = scale * (rule.out ? parameter(at.norm_out.bias, i, 0) : 0);
        }
        parts_.push_back(std::move(part));
    }

    std::vector<double> sum_;
    std::vector<Part> parts_;
};

/// The sums of one sequence at a site.
enum SiteTerm { kTokens, kGain, kEpsilon, kBackward, kBackwardTotal, kForward, kForwardTotal, kSiteTerms };

struct SiteNumbers {
    Averaged gain, backward, forward, epsilon;
    double rho_bf16 = std::numeric_limits<double>::quiet_NaN(), rho_fp16 = rho_bf16;
};

template <class T>
SiteNumbers measure(const ProbeInput<T>& input, const Tape<T>& tape, const NormSite& site,
                    const Buffer<T>& site_gradient) {
    const auto d = static_cast<std::size_t>(input.model.spec().d_model);
    const auto rows = static_cast<std::size_t>(tape.rows()), length = static_cast<std::size_t>(tape.length);
    const double eps = norm_eps(input.model, site);
    const auto read = norm_site_input(site, tape);
    const HostView<T> inputs = tape.view(read.x, rows * d), rstd = tape.view(read.statistics.rstd, rows);
    const HostView<T> gradients(site_gradient);
    const T *x = inputs.data(), *gradient = gradients.data();
    const auto gamma = widened(input.model.host_parameters(site.offsets.weight, d).data(), d);
    SiteNumbers result;
    const NormNulls nulls = norm_kind_row(site.offsets.kind).nulls;
    if (nulls == NormNulls::None ||
        !std::all_of(gamma.begin(), gamma.end(), [](double g) { return std::isfinite(g); })) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        result.gain = result.backward = result.forward = result.epsilon = {nan, nan};
        return result;
    }
    const NormNullSpace null_space(nulls == NormNulls::MeanAndInput, d, gamma);
    std::optional<JoinedBranches<T>> joined;
    if (site.place == NormSite::Place::Post) joined.emplace(input.model, tape, site.sublayer);

    std::vector<double> sums(static_cast<std::size_t>(tape.sequences) * kSiteTerms), variances(rows);
    for (std::size_t r = 0; r < rows; ++r) {
        double* sum = sums.data() + r / length * kSiteTerms;
        const auto token = null_space.token(x + r * d, gradient + r * d);
        variances[r] = token.variance;
        sum[kTokens] += 1;
        sum[kGain] += static_cast<double>(rstd[r]);
        sum[kEpsilon] += eps / (token.variance + eps);
        sum[kBackward] += token.backward.erased;
        sum[kBackwardTotal] += token.backward.total;
        if (!joined) continue;
        const ErasedEnergy lost = null_space.erased_forward(x + r * d, joined->at(r));
        sum[kForward] += lost.erased;
        sum[kForwardTotal] += lost.total;
    }

    const auto over = [&](auto&& statistic) {
        return jackknife(sums, kSiteTerms,
                         [&](std::span<const double> t, std::size_t) { return statistic(t); });
    };
    // Not ErasedEnergy::share() alone: NaN is kept.
    const auto share = [](double erased, double total) { return total == 0 ? 0 : erased / total; };
    result.gain = over([](auto t) { return t[kGain] / t[kTokens]; });
    result.epsilon = over([](auto t) { return t[kEpsilon] / t[kTokens]; });
    result.backward = over([&](auto t) { return share(t[kBackward], t[kBackwardTotal]); });
    result.forward = over([&](auto t) {
        return joined ? share(t[kForward], t[kForwardTotal]) : std::numeric_limits<double>::quiet_NaN();
    });
    const double variance = median(std::move(variances));
    if (eps > 0 && std::isfinite(variance)) {
        result.rho_bf16 = rho_ln(variance, eps, d, kUnitRoundOffBf16);
        result.rho_fp16 = rho_ln(variance, eps, d, kUnitRoundOffFp16);
    }
    return result;
}

}  // namespace

template <class T>
ProbeResult probe_null_space(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const BackwardRecord<T>& record = input.backward();
    const auto& sites = input.model.sites();
    std::vector<SiteNumbers> numbers(sites.size());
    input.pool.run(static_cast<int>(sites.size()), [&](int index) {
        const auto i = static_cast<std::size_t>(index);
        if (!input.selects(sites[i].name)) return;
        input.check_cancelled();
        numbers[i] = measure(input, tape, sites[i], record.norm_output[i]);
    });

    ProbeResult result;
    const std::vector<std::size_t> shape{sites.size()};
    const auto averaged = [&](const char* name, Averaged SiteNumbers::*member) {
        std::vector<Averaged> values;
        for (const SiteNumbers& n : numbers) values.push_back(n.*member);
        add_averaged(result, name, shape, values, {"site"}, "1");
    };
    const auto plain = [&](const char* name, double SiteNumbers::*member) {
        std::vector<double> values;
        for (const SiteNumbers& n : numbers) values.push_back(n.*member);
        result.arrays.push_back({name, shape, std::move(values), {"site"}, "1"});
    };
    averaged("gain", &SiteNumbers::gain);
    averaged("erased_backward", &SiteNumbers::backward);
    averaged("erased_forward", &SiteNumbers::forward);
    averaged("epsilon_share", &SiteNumbers::epsilon);
    plain("bf16_rho_ln", &SiteNumbers::rho_bf16);
    plain("fp16_rho_ln", &SiteNumbers::rho_fp16);
    for (const NormSite& site : sites) result.labels["sites"].push_back(site.name);
    return result;
}
template ProbeResult probe_null_space<float>(ProbeInput<float>&);
template ProbeResult probe_null_space<double>(ProbeInput<double>&);

namespace {

double null_space_operations(const ProbeShape& s) {
    return scalar_operations(s.part.sites * 4 * s.states());
}

}  // namespace

ProbeInfo null_space_probe() {
    const std::vector<Axis> sites{axis::site};
    return {"null_space",
            "Norm sites",
            "1/σ_ε; the share of a vector's energy in ker J of the norm; ε/(σ² + ε)",
            "[N] Theorem 2.2, [E] Lemma A.1; [B] (ρ_LN)",
            ProbeNeeds::Backward,
            ProbeCost::Medium,
            null_space_operations,
            probe_null_space<float>,
            probe_null_space<double>,
            {{"gain", sites, "mean over tokens of 1/σ_ε", kAveraged},
             {"erased_backward", sites, "share of the gradient's energy that the norm's Jacobian erases",
              kAveraged | kMayBeNan},
             {"erased_forward", sites, "share of the branch's energy that a post norm erases",
              kAveraged | kMayBeNan},
             {"epsilon_share", sites, "mean over tokens of ε/(var + ε)", kAveraged | kAdded},
             {"bf16_rho_ln", sites, "ρ_LN of the median variance in BF16", kMayBeNan | kAdded},
             {"fp16_rho_ln", sites, "ρ_LN of the median variance in FP16", kMayBeNan | kAdded}},
            {{"sites", "names such as blocks.3.ffn.norm_post, final_norm, in forward order"}}};
}

}  // namespace normscope
