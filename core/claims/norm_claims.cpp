// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/theory/norm_precision.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace normscope {

namespace {

using Matrix = Quantities::Matrix;
using Vector = Eigen::VectorXd;

Vector as_vector(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

double mean_of(const std::vector<double>& x) {
    return as_vector(x).mean();
}
double variance_of(const std::vector<double>& x) {
    return (as_vector(x).array() - mean_of(x)).square().mean();
}

/// Random tokens of a LayerNorm, of 4 to 11 channels and σ from 0.05 to 20.
std::vector<NormAtToken> random_tokens(int count, double eps, bool gamma, std::uint64_t seed) {
    RandomNumbers random(seed);
    std::vector<NormAtToken> tokens;
    for (int i = 0; i < count; ++i) {
        NormAtToken token;
        const auto d = static_cast<std::size_t>(4 + i % 8);
        token.x = random.normals(d, std::exp(random.uniform(-3, 3)));
        token.eps = eps;
        if (gamma) {
            token.gamma = random.normals(d);
            token.beta = random.normals(d);
        }
        tokens.push_back(std::move(token));
    }
    return tokens;
}

/// The token of the last row of sequence 0 at every norm site of the stack.
std::vector<NormAtToken> site_tokens(ClaimInput& input) {
    const Tape<double>& tape = input.tape();
    const auto d = static_cast<std::size_t>(input.spec().d_model);
    const auto row = static_cast<std::size_t>(tape.length - 1);
    std::vector<NormAtToken> tokens;
    for (const NormSite& site : input.model().sites()) {
        NormAtToken token;
        token.kind = site.offsets.kind;
        token.eps = input.model().numerics.eps;
        const HostView<double> x = tape.view(norm_site_input(site, tape).x + row * d, d);
        token.x.assign(x.begin(), x.end());
        const HostView<double> gamma = input.model().host_parameters(site.offsets.weight, d);
        token.gamma.assign(gamma.begin(), gamma.end());
        if (site.offsets.bias != kAbsent) {
            const HostView<double> beta = input.model().host_parameters(site.offsets.bias, d);
            token.beta.assign(beta.begin(), beta.end());
        }
        tokens.push_back(std::move(token));
    }
    if (tokens.empty()) throw NotMeasured("needs a stack with a norm");
    return tokens;
}

/// Central differences of the norm, of fourth order.
Matrix finite_differences(const Quantities& quantities, const NormAtToken& at) {
    const auto d = static_cast<Eigen::Index>(at.x.size());
    const double h = 1e-3 * std::sqrt(variance_of(at.x) + at.eps);
    Matrix j(d, d);
    for (Eigen::Index i = 0; i < d; ++i) {
        const auto moved = [&](double by) {
            NormAtToken there = at;
            there.x[static_cast<std::size_t>(i)] += by * h;
            return as_vector(quantities.norm(there));
        };
        j.col(i) = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * h);
    }
    return j;
}

/// ‖a − b‖/‖b‖, Frobenius.
double distance(const Matrix& a, const Matrix& b) {
    return (a - b).norm() / b.norm();
}

/// ẑ and 1/σ_ε of a token.
struct Normalised {
    Vector z;
    double gain, variance;
};
Normalised normalised(const NormAtToken& at) {
    const double variance = variance_of(at.x), gain = 1 / std::sqrt(variance + at.eps);
    return {(as_vector(at.x).array() - mean_of(at.x)) * gain, gain, variance};
}

Matrix diagonal(const std::vector<double>& gamma) {
    return as_vector(gamma).asDiagonal();
}

ClaimResult output_norm(ClaimInput& input) {
    Worst worst;
    auto tokens = site_tokens(input);
    const std::size_t sites = tokens.size();
    for (NormAtToken& token : random_tokens(100, 1e-5, true, 2)) tokens.push_back(std::move(token));
    for (const NormAtToken& token : tokens) {
        const auto largest = [](const std::vector<double>& v) {
            return v.empty() ? 0.0 : as_vector(v).cwiseAbs().maxCoeff();
        };
        const double rms =
            as_vector(input.quantities().norm(token)).norm() / std::sqrt(static_cast<double>(token.x.size()));
        worst.add_bounded(rms, largest(token.gamma) + largest(token.beta));
    }
    return worst.result(holds_if(worst.residual <= 1e-12), "the last token at " + std::to_string(sites) +
                                                               " norm sites, 100 random tokens with γ and β");
}

ClaimResult norm_lipschitz(ClaimInput& input) {
    const double eps = input.model().numerics.eps;
    if (!(eps > 0)) return not_applicable("ε is 0: the bound is infinite");
    Worst worst, equal;
    for (const NormAtToken& token : site_tokens(input))
        worst.add_bounded(input.quantities().singular_values(input.quantities().norm_jacobian(token)).front(),
                          as_vector(token.gamma).cwiseAbs().maxCoeff() / std::sqrt(eps));
    for (double scale : {1e-6, 1e-3, 1.0}) {  // the first is nearly at the bound
        for (NormAtToken token : random_tokens(20, eps, false, 16)) {
            for (double& x : token.x) x *= scale;
            const double top =
                input.quantities().singular_values(input.quantities().norm_jacobian(token)).front();
            worst.add_bounded(top, 1 / std::sqrt(eps));
            equal.add_equal(top, normalised(token).gain);
        }
    }
    return worst.result(
        holds_if(worst.residual <= 1e-12 && equal.residual <= 1e-9),
        "the last token at every norm site, 60 random tokens; at γ = 1 the norm is 1/σ_ε within " +
            text(equal.residual));
}

ClaimResult annihilated_directions(ClaimInput& input) {
    Worst ones, input_direction;
    for (const NormAtToken& token : random_tokens(100, 1e-5, true, 19)) {
        const Matrix j = input.quantities().norm_jacobian(token);
        const Normalised n = normalised(token);
        ones.add((j * Vector::Ones(n.z.size())).norm() / j.norm());
        NormAtToken plain = token;
        plain.gamma.clear();
        input_direction.add_equal((input.quantities().norm_jacobian(plain) * n.z).norm() / n.z.norm(),
                                  n.gain * token.eps / (n.variance + token.eps));
    }
    return {holds_if(ones.residual <= 1e-12 && input_direction.residual <= 1e-6),
            ones.residual,
            0,
            ones.residual,
            ones.samples,
            "100 random tokens with γ; incomplete, as ẑ is mapped to gain·ε/(var + ε) too, within " +
                text(input_direction.residual)};
}

ClaimResult closed_form(ClaimInput& input) {
    Worst worst;
    for (const NormAtToken& token : random_tokens(40, 0, false, 1)) {
        const double off =
            distance(input.quantities().norm_jacobian(token), finite_differences(input.quantities(), token));
        worst.add(off, off, 0);
    }
    return worst.result(holds_if(worst.residual <= 1e-8), "40 random tokens against finite differences");
}

/// A form of a paper against finite differences, which the closed form must match.
ClaimResult refuted_form(ClaimInput& input, const std::vector<NormAtToken>& tokens,
                         Matrix (*form)(const NormAtToken&), const std::string& detail) {
    Worst paper, closed;
    double least = std::numeric_limits<double>::infinity();
    for (const NormAtToken& token : tokens) {
        const Matrix truth = finite_differences(input.quantities(), token);
        const double off = distance(form(token), truth);
        paper.add(off, off, 0);
        least = std::min(least, off);
        closed.add(distance(input.quantities().norm_jacobian(token), truth));
    }
    const bool reference = closed.residual <= 1e-8;
    return paper.result(refuted_if(paper.residual > 1e-6, reference),
                        reference ? detail + ": the paper's form is " + text(least) + " to " +
                                        text(paper.residual) + " of the Jacobian's norm away from it"
                                  : "needs a closed form that finite differences confirm: it is off by " +
                                        text(closed.residual));
}

ClaimResult misprinted_gain(ClaimInput& input) {
    return refuted_form(
        input, random_tokens(40, 0, false, 2),
        [](const NormAtToken& at) -> Matrix {
            const Normalised n = normalised(at);
            const auto d = static_cast<double>(n.z.size());
            Matrix j = n.gain * Matrix::Identity(n.z.size(), n.z.size());
            j.array() -= n.gain / d;
            return j - n.z * n.z.transpose() / d;
        },
        "the factor 1/σ belongs to the term of ẑ too");
}

ClaimResult gamma_on_the_right(ClaimInput& input) {
    return refuted_form(
        input, random_tokens(40, 1e-5, true, 4),
        [](const NormAtToken& at) -> Matrix {
            const Normalised n = normalised(at);
            const auto d = static_cast<double>(n.z.size());
            Matrix core = Matrix::Identity(n.z.size(), n.z.size()) - n.z * n.z.transpose() / d;
            core.array() -= 1 / d;
            return n.gain * core * diagonal(at.gamma);
        },
        "γ multiplies from the left, so ker Jᵀ depends on it and ker J does not");
}

ClaimResult without_the_mean(ClaimInput& input) {
    return refuted_form(
        input, random_tokens(40, 1e-5, true, 22),
        [](const NormAtToken& at) -> Matrix {
            const Normalised n = normalised(at);
            const auto d = static_cast<double>(n.z.size());
            const Matrix core = Matrix::Identity(n.z.size(), n.z.size()) - n.z * n.z.transpose() / d;
            return n.gain * diagonal(at.gamma) * core;
        },
        "−11ᵀ/d is missing");
}

ClaimResult norm_rank(ClaimInput& input) {
    // ε of 1e-5 is the usual one; 0.1 shows that the correction is not a matter of round-off.
    Worst corrected;
    int least = 1 << 20, samples = 0;
    bool without_eps = true;
    for (const double eps : {0.0, 1e-5, 0.1})
        for (const NormAtToken& token : random_tokens(40, eps, false, 5)) {
            const auto values = input.quantities().singular_values(input.quantities().norm_jacobian(token));
            const auto nulls = static_cast<int>(std::count_if(
                values.begin(), values.end(), [&](double v) { return v <= 1e-13 * values.front(); }));
            ++samples;
            if (eps == 0) {
                without_eps = without_eps && nulls == 2;
                continue;
            }
            least = std::min(least, nulls);
            const Normalised n = normalised(token);
            corrected.add_equal(values[values.size() - 2], n.gain * eps / (n.variance + eps), 1e-9 * n.gain);
        }
    return {stated_or_corrected(least == 2 && without_eps, without_eps && corrected.residual <= 1e-3),
            static_cast<double>(least),
            2,
            corrected.residual,
            samples,
            "with ε = 0 the rank is d − 2; with ε > 0 " + std::to_string(least) +
                " direction is exactly null and ẑ has gain·ε/(var + ε), within " + text(corrected.residual)};
}

ClaimResult on_the_ellipsoid(ClaimInput& input) {
    Worst stated, corrected;
    auto tokens = random_tokens(100, 1e-5, true, 1);
    for (NormAtToken& token : random_tokens(100, 0.1, true, 7)) tokens.push_back(std::move(token));
    for (const NormAtToken& token : tokens) {
        const Vector z = (as_vector(input.quantities().norm(token)) - as_vector(token.beta)).array() /
                         as_vector(token.gamma).array();
        const auto d = static_cast<double>(z.size());
        const Normalised n = normalised(token);
        stated.add_equal(z.squaredNorm(), d);
        corrected.add_equal(z.squaredNorm(), d * n.variance / (n.variance + token.eps));
        corrected.add(std::abs(z.sum()) / d);  // and on the hyperplane
    }
    return stated.result(stated_or_corrected(stated.residual <= 1e-10, corrected.residual <= 1e-10),
                         "inside for ε > 0: Σ((z − β)/γ)² = d·v/(v + ε), and Σ(z − β)/γ = 0, within " +
                             text(corrected.residual));
}

ClaimResult scale_of_the_input(ClaimInput& input) {
    Worst worst;
    for (const NormAtToken& token : random_tokens(20, 0, true, 3)) {
        const Matrix at_one = input.quantities().norm_jacobian(token);
        for (const double c : {1e-3, 0.5, 2.0, 1e3}) {
            NormAtToken scaled = token;
            for (double& x : scaled.x) x *= c;
            const double off = distance(input.quantities().norm_jacobian(scaled) * c, at_one);
            worst.add(off, off, 0);
        }
    }
    return worst.result(holds_if(worst.residual <= 1e-10),
                        "20 random tokens, c = 0.001, 0.5, 2, 1000, ε = 0");
}

ClaimResult epsilon_domination(ClaimInput& input) {
    const auto d = static_cast<std::size_t>(input.spec().d_model);
    const double eps = input.model().numerics.eps > 0 ? input.model().numerics.eps : 1e-5;
    // ε's share of σ² + ε where ρ_LN is 1, in the format of the claim's own table.
    const auto share_at = [&](std::size_t width, double u) {
        const double variance = 1 / input.quantities().rho_ln(1, eps, width, u);  // ρ is linear in σ²
        return eps / (variance + eps);
    };
    const double share = share_at(d, kUnitRoundOffFp16);
    std::string table;
    for (const std::size_t width : {std::size_t{64}, std::size_t{768}, std::size_t{4096}})
        table += (table.empty() ? "" : ", ") + std::to_string(width) + ": " +
                 text(100 * share_at(width, kUnitRoundOffFp16)) + " % FP16, " +
                 text(100 * share_at(width, kUnitRoundOffBf16)) + " % BF16";
    return {refuted_if(share < 0.5),
            share,
            0.5,
            0.5 - share,
            1,
            "at ρ_LN = 1 and d = " + std::to_string(d) + " in FP16 ε's share is " + text(100 * share) +
                " %, not half; by width " + table};
}

ClaimResult sensitivity_over_epsilon(ClaimInput& input) {
    Worst worst;
    for (NormAtToken token : random_tokens(20, 0, false, 90)) {
        double before = std::numeric_limits<double>::infinity();
        const double variance = variance_of(token.x);
        for (const double ratio : {0.01, 0.1, 1.0, 10.0, 100.0}) {  // ε ÷ σ², up to domination
            token.eps = ratio * variance;
            double squares = 0;
            for (const double y : input.quantities().norm(token)) squares += y * y;
            const double largest =
                input.quantities().singular_values(finite_differences(input.quantities(), token)).front() /
                std::sqrt(squares);
            worst.add(largest / before - 1, largest, before);  // above 0: more sensitive
            before = largest;
        }
    }
    constexpr double kRise = 1e-4;  // far above the error of finite differences
    return worst.result(refuted_if(worst.residual < kRise),
                        "ε from 0.01 to 100 times σ²; the largest relative error of the output for a given "
                        "perturbation, ‖δx‖/(√d·σ), has no ε in it; from one ε to the next it rises by " +
                            text(worst.residual) + " at most. A mean far above σ is the risk");
}

const Claim kNormRows[] = {
    {"E02", "Lemma 3.3", "‖LN(x)‖_rms ≤ ‖γ‖∞ + ‖β‖∞", kHolds, output_norm},
    {"E16", "Lemma A.1", "‖J_LN‖₂ ≤ ‖γ‖∞/√ε", kHolds, norm_lipschitz, "stack.norm.eps"},
    {"E19", "Thm 5.5 (ii)", "J_LN annihilates the direction 1", kHolds, annihilated_directions},
    {"N01", "Lemma 2.1 (15)", "J = (1/σ)(I − 11ᵀ/d − ẑẑᵀ/d)", kHolds, closed_form},
    {"N02", "eq 14", "the second term of J without 1/σ", kFails, misprinted_gain},
    {"N03", "Thm 2.2", "ker J = span{1, ẑ}: the rank is d − 2", kCorrected, norm_rank, "stack.norm.eps"},
    {"N04", "Remark 1.2", "γ multiplies the Jacobian from the right", kFails, gamma_on_the_right},
    {"B08", "ρ_LN", "a small ρ_LN marks a norm that ε dominates", kFails, epsilon_domination,
     "stack.d_model"},
    {"B09", "Prop 1", "a norm that ε dominates is more sensitive", kFails, sensitivity_over_epsilon,
     "stack.norm.eps"},
    {"K01", "Lemma 1", "the output of LayerNorm is on an ellipsoid", kCorrected, on_the_ellipsoid,
     "stack.norm.eps"},
    {"K02", "Lemma 9", "∇LN without the term −11ᵀ/d", kFails, without_the_mean},
    {"K03", "Lemma 9", "J(cx) = J(x)/c", kHolds, scale_of_the_input},
};

}  // namespace

std::span<const Claim> norm_claims() {
    return kNormRows;
}

}  // namespace normscope
