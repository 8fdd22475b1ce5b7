// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

using Row = std::vector<double>;
using Matrix = Quantities::Matrix;

Row softmax(std::vector<double> logits) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (double& z : logits) sum += z = std::exp(z - most);
    for (double& z : logits) z /= sum;
    return logits;
}

Row uniform_row(std::size_t length) {
    return Row(length, 1.0 / static_cast<double>(length));
}

/// Rows of sequence 0: the last, the middle and two short ones of every head, without masked entries.
std::vector<Row> attention_rows(ClaimInput& input) {
    const Tape<double>& tape = input.tape();
    const StackSpec& s = input.spec();
    const int n = tape.length;
    std::vector<Row> rows;
    for (int l = 0; l < s.depth; ++l) {
        const HostView<double> maps = tape.view(tape.sublayers[2 * static_cast<std::size_t>(l)].probabilities,
                                                static_cast<std::size_t>(s.heads) * n * n);
        for (int h = 0; h < s.heads; ++h)
            for (const int i : {n - 1, n / 2, n / 4, std::min(n - 1, 3)}) {
                const double* p = maps.data() + (static_cast<std::size_t>(h) * n + i) * n;
                const int length = s.causal ? i + 1 : n;
                rows.emplace_back(p, p + length);
                for (const double entry : rows.back())
                    if (!std::isfinite(entry))
                        throw NotMeasured("needs finite attention maps, and layer " + std::to_string(l + 1) +
                                          " has others");
            }
    }
    return rows;
}

/// Random rows of 2 to `longest` entries, flat to peaked.
std::vector<Row> random_rows(int count, int longest, std::uint64_t seed) {
    RandomNumbers random(seed);
    std::vector<Row> rows;
    rows.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const int length = 2 + i % (longest - 1);
        rows.push_back(softmax(random.normals(static_cast<std::size_t>(length), random.uniform(0.1, 5))));
    }
    return rows;
}

/// max over x in {−1, 1}^L of ‖(diag p − ppᵀ)x‖₁.
double enumerated_norm(const Row& p) {
    double most = 0;
    for (std::size_t bits = 0; bits < std::size_t{1} << (p.size() - 1); ++bits) {
        double mean = 0, sum = 0;
        const auto sign = [&](std::size_t i) { return (bits >> i) & 1 ? 1.0 : -1.0; };
        for (std::size_t i = 0; i < p.size(); ++i) mean += p[i] * sign(i);
        for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * std::abs(sign(i) - mean);
        most = std::max(most, sum);
    }
    return most;
}

/// The worst perturbation of the logits: 1 on S*, −1 elsewhere.
std::vector<double> worst_perturbation(std::size_t length, const std::vector<std::size_t>& subset) {
    std::vector<double> x(length, -1);
    for (const std::size_t i : subset) x[i] = 1;
    return x;
}

/// ‖(diag p − ppᵀ)x‖₁.
double product_norm(const Row& p, const std::vector<double>& x) {
    double mean = 0, sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) mean += p[i] * x[i];
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * std::abs(x[i] - mean);
    return sum;
}

ClaimResult exact_sensitivity(ClaimInput& input) {
    constexpr double kTolerance = 1e-12;
    Worst worst;
    for (const Row& p : random_rows(60, 12, 3))
        worst.add_equal(enumerated_norm(p), input.quantities().theta(p).theta.value, 0.01);
    double width = 0;
    for (const Row& p : attention_rows(input)) {
        const SensitivityWithSubset theta = input.quantities().theta(p);
        worst.add_equal(product_norm(p, worst_perturbation(p.size(), theta.subset)), theta.theta.value, 0.01);
        width = std::max(width, theta.theta.upper - theta.theta.lower);
    }
    return worst.result(holds_if(worst.residual <= kTolerance && width <= kTolerance),
                        "60 random rows of 2 to 12 entries by enumeration, four attention rows of every head "
                        "by their worst perturbation; widest certificate " +
                            text(width));
}

ClaimResult uniform_rows(ClaimInput& input) {
    Worst stated, corrected;
    for (std::size_t length = 2; length <= 64; ++length) {
        const double theta = input.quantities().theta(uniform_row(length)).theta.value;
        stated.add_equal(theta, 1);
        corrected.add_equal(theta, uniform_row_sensitivity(length));
    }
    return stated.result(stated_or_corrected(stated.residual <= 1e-12, corrected.residual <= 1e-12),
                         "an odd length gives 1 − 1/L²; the least is " + text(stated.value) +
                             ", and all 63 lengths follow that form within " + text(corrected.residual));
}

ClaimResult one_hot_rows(ClaimInput& input) {
    Worst worst;
    for (std::size_t length = 1; length <= 64; ++length) {
        Row p(length, 0.0);
        p[length / 2] = 1;
        const double theta = input.quantities().theta(p).theta.value;
        worst.add(std::abs(theta), theta, 0);
    }
    return worst.result(holds_if(worst.residual == 0), "rows of 1 to 64 entries, exactly 0");
}

ClaimResult peaked_rows(ClaimInput& input) {
    Worst all, below;
    for (int i = 1; i <= 40; ++i) {
        const double kappa = i / 80.0;  // up to ½: the bound holds, with equality
        Row p{1 - kappa, kappa / 3, kappa / 3, kappa / 3};
        below.add_equal(input.quantities().theta(p).theta.value, peaked_row_bound(kappa));
    }
    for (std::size_t length = 2; length <= 10; ++length) {
        const double kappa = 1 - 1 / static_cast<double>(length);
        all.add_bounded(input.quantities().theta(uniform_row(length)).theta.value, 4 * kappa * (1 - kappa));
    }
    return all.result(refuted_if(all.residual > 1e-9), "above κ = ½ a uniform row has θ " + text(all.value) +
                                                           " and the bound is " + text(all.bound) +
                                                           "; for κ up to ½ it is an equality within " +
                                                           text(below.residual));
}

ClaimResult top_k_rows(ClaimInput& input) {
    Worst worst;
    for (std::size_t k = 1; k <= 20; ++k) {
        Row p(24, 0.0);
        std::fill_n(p.begin(), k, 1 / static_cast<double>(k));
        const std::size_t pairs = k / 2;
        const double odd = 1 - 2 * static_cast<double>(pairs) / static_cast<double>(k);
        worst.add(std::abs(input.quantities().theta(p).theta.value - (1 - odd * odd)),
                  input.quantities().theta(p).theta.value, 1 - odd * odd);
    }
    return worst.result(holds_if(worst.residual <= 1e-12), "k = 1 … 20 equal entries of 24");
}

double entropy(const Row& p) {
    double sum = 0;
    for (const double v : p) sum -= v > 0 ? v * std::log(v) : 0;
    return sum;
}

ClaimResult entropy_is_no_measure(ClaimInput& input) {
    const Row p{0.4, 0.1, 0.4, 0.1};
    const double theta = input.quantities().theta(p).theta.value;
    const double lost = std::log(4.0) - entropy(p);
    ClaimResult result{holds_if(std::abs(theta - 1) <= 1e-12 && lost > 0),
                       theta,
                       1,
                       std::abs(theta - 1),
                       1,
                       "its entropy is " + text(lost) + " nat below that of the uniform row"};
    return result;
}

ClaimResult prefix_heuristic(ClaimInput& input) {
    std::string shares;
    double least = 1, largest_gap = 0;
    RandomNumbers random(9);
    for (const std::size_t length : {4u, 8u, 12u, 16u}) {
        int agree = 0;
        for (int i = 0; i < 500; ++i) {
            const Row p = softmax(random.normals(length));
            const double gap = input.quantities().theta(p).theta.value - input.quantities().prefix_theta(p);
            agree += gap <= 1e-12;
            largest_gap = std::max(largest_gap, gap);
        }
        least = std::min(least, agree / 500.0);
        shares += (shares.empty() ? "" : ", ") + std::to_string(agree) + " at L = " + std::to_string(length);
    }
    const Row example{0.35, 0.30, 0.20, 0.15};
    return {refuted_if(least < 1),
            least,
            1,
            largest_gap,
            2000,
            "of 500 rows of N(0, 1) logits each agree " + shares + "; (.35, .30, .20, .15) gives " +
                text(input.quantities().prefix_theta(example)) + ", θ is " +
                text(input.quantities().theta(example).theta.value)};
}

/// Total variation between softmax(z) and softmax(z + h·x), divided by h.
double shift_rate(const std::vector<double>& logits, const std::vector<double>& x, double h) {
    std::vector<double> moved = logits;
    for (std::size_t i = 0; i < x.size(); ++i) moved[i] += h * x[i];
    const Row p = softmax(logits), q = softmax(moved);
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
    return sum / 2 / h;
}

ClaimResult total_variation(ClaimInput& input) {
    Worst worst;
    double constant = 0;  // of the error, over h
    RandomNumbers random(10);
    for (int i = 0; i < 50; ++i) {
        const std::vector<double> logits = random.normals(static_cast<std::size_t>(4 + i % 9), 2);
        const Row p = softmax(logits);
        const SensitivityWithSubset theta = input.quantities().theta(p);
        const auto x = worst_perturbation(p.size(), theta.subset);
        const double limit = theta.theta.value / 2;
        worst.add_equal(shift_rate(logits, x, 1e-6), limit);
        for (const double h : {1e-1, 1e-2, 1e-3})
            constant = std::max(constant, std::abs(shift_rate(logits, x, h) - limit) / h);
    }
    return worst.result(holds_if(worst.residual <= 1e-5 && constant <= 1),
                        "50 rows, TV(h)/h against θ/2τ at h = 1e-6; from h = 0.1 down the error is at most " +
                            text(constant) + "·h");
}

/// The largest τ‖J‖₂, the tie and uniform rows.
ClaimResult softmax_norm_bound(ClaimInput& input, const std::vector<Row>& rows) {
    Worst worst;
    const Quantities& q = input.quantities();
    for (const Row& p : rows) worst.add_bounded(q.softmax_norm(p), 0.5);
    Worst exact;
    exact.add_equal(q.softmax_norm(Row{0.5, 0.5}), 0.5);
    exact.add_equal(q.softmax_norm(Row{0.5, 0.0, 0.5}), 0.5);
    exact.add(std::abs(q.softmax_norm(Row{0, 1, 0})));
    for (const std::size_t length : {2u, 3u, 7u, 64u})
        exact.add_equal(q.softmax_norm(uniform_row(length)), 1 / static_cast<double>(length));
    for (const Row& p : random_rows(30, 20, 11)) {
        const Eigen::Map<const Eigen::VectorXd> v(p.data(), static_cast<Eigen::Index>(p.size()));
        Matrix j = v.asDiagonal();
        j -= v * v.transpose();
        exact.add_equal(q.softmax_norm(p), q.singular_values(j).front());
    }
    return worst.result(holds_if(worst.residual <= 1e-12 && exact.residual <= 1e-11),
                        "½ at a two-way tie, 1/L at a uniform row and 0 at a one-hot row; 30 rows against a "
                        "dense decomposition, within " +
                            text(exact.residual));
}

ClaimResult spectral_norm_of_attention(ClaimInput& input) {
    return softmax_norm_bound(input, attention_rows(input));
}
ClaimResult spectral_norm_of_random_rows(ClaimInput& input) {
    return softmax_norm_bound(input, random_rows(2000, 64, 12));
}

ClaimResult power_iterations(ClaimInput& input) {
    Worst worst;
    RandomNumbers random(13);
    for (int i = 0; i < 10'000; ++i) {
        const Row p = softmax(random.normals(static_cast<std::size_t>(4 + i % 61), random.uniform(0.5, 4)));
        const double exact = input.quantities().softmax_norm(p);
        const double estimate = input.quantities().softmax_norm_by_power(p, 3);
        worst.add(std::abs(estimate - exact) / exact, estimate, exact);
    }
    return worst.result(refuted_if(worst.residual > 0.01),
                        "10000 rows, three iterations: the worst estimate is " + text(100 * worst.residual) +
                            " % off; the secular equation gives it to round-off");
}

ClaimResult score_condition(ClaimInput& input) {
    const Tape<double>& tape = input.tape();
    const StackSpec& s = input.spec();
    const int n = tape.length, dh = s.d_head(), width = s.d_q() + 2 * s.d_kv();
    Worst worst;
    std::vector<double> all;
    for (int l = 0; l < s.depth; ++l) {
        const HostView<double> rows = tape.view(tape.sublayers[2 * static_cast<std::size_t>(l)].qkv,
                                                static_cast<std::size_t>(n) * width);
        const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> qkv(
            rows.data(), n, width);
        for (int h = 0; h < s.heads; ++h) {
            const Matrix q = qkv.middleCols(h * dh, dh);
            const Matrix k = qkv.middleCols(s.d_q() + h * s.kv_heads / s.heads * dh, dh);
            const double top = input.quantities().singular_values(q).front() *
                               input.quantities().singular_values(k).front() / std::sqrt(dh);
            const double kappa =
                top / input.quantities().singular_values(input.quantities().scores(q, k)).front();
            all.push_back(kappa);
            worst.add(1 - kappa, kappa, 1);
        }
    }
    std::sort(all.begin(), all.end());
    return worst.result(holds_if(worst.residual <= 1e-12),
                        "every head of sequence 0, unmasked scores: " + text(all.front()) + " to " +
                            text(all.back()) + ", median " + text(upper_median(all)));
}

/// Rows of probabilities are convex combinations.
ClaimResult contraction(ClaimInput& input) {
    Worst worst;
    for (const double ratio : input.values("attention", "contraction"))
        if (std::isfinite(ratio)) worst.add_bounded(ratio, 1);
    if (worst.samples == 0) throw NotMeasured("needs finite values of attention");
    return worst.result(
        holds_if(worst.residual <= 1e-12),
        std::to_string(worst.samples) + " heads at " + input.where() + ", at most " + text(worst.value));
}

const Claim kSoftmaxRows[] = {
    {"E01", "Lemma 3.2", "attention does not increase the largest token RMS: ‖AV‖ ≤ ‖V‖", kHolds,
     contraction},
    {"E03", "Thm 4.2", "the ∞→1 norm of the softmax Jacobian is θ(p)/τ", kHolds, exact_sensitivity},
    {"E04", "Cor 4.3 (1)", "a uniform row has θ = 1", ClaimVerdict::Corrected, uniform_rows},
    {"E05", "Cor 4.3 (2)", "a one-hot row has θ = 0", kHolds, one_hot_rows},
    {"E06", "Cor 4.3 (3)", "a row with largest entry 1 − κ has θ ≤ 4κ(1 − κ)", kFails, peaked_rows},
    {"E07", "Cor 4.3 (4)", "k equal entries give θ = 1 − (1 − 2⌊k/2⌋/k)²", kHolds, top_k_rows},
    {"E08", "§4", "(.4, .1, .4, .1) has θ = 1 and less entropy than the uniform row", kHolds,
     entropy_is_no_measure},
    {"E09", "App E.2", "the greedy prefix equals the exhaustive search up to L = 16", kFails,
     prefix_heuristic},
    {"E10", "Remark B.1", "the worst perturbation moves 2·TV to first order", kHolds, total_variation},
    {"E11", "Remark B.2", "‖J_softmax‖₂ ≤ 1/(2τ)", kHolds, spectral_norm_of_attention, "stack.temperature"},
    {"B01", "Lemma 2", "‖diag p − ppᵀ‖₂ ≤ ½", kHolds, spectral_norm_of_random_rows},
    {"B02", "App A.6", "two or three power iterations give that norm", kFails, power_iterations},
    {"B04", "§3", "κ_score = ‖Q‖‖K‖/(√d_h‖S‖) ≥ 1", kHolds, score_condition},
};

}  // namespace

std::span<const Claim> softmax_claims() {
    return kSoftmaxRows;
}

}  // namespace normscope
