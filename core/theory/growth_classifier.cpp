// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/growth_classifier.h"

#include "core/base/error.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace normscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Below this relative error per layer two fits are equally exact, and only the parameter count distinguishes
/// them.
constexpr double exact_fit = 1e-9;

struct Candidate {
    VectorXd coefficients;  // in units where the last layer is at 1
    double rss = std::numeric_limits<double>::infinity();
};

double log_rss(const VectorXd& model, const VectorXd& log_values) {
    return (log_values - model.array().log().matrix()).squaredNorm();
}

/// Least squares of log v on log(columns · coefficients), coefficients >= 0. Starts from the fit with
/// relative weights, which differs only in second order of the noise, and refines it by damped Gauss–Newton.
/// No result when the best fit has a negative coefficient: a submodel is then at least as good within the
/// constraint.
std::optional<Candidate> fit_positive_sum(const MatrixXd& columns, const VectorXd& log_values) {
    const MatrixXd relative = (-log_values).array().exp().matrix().asDiagonal() * columns;
    Candidate fit{relative.colPivHouseholderQr().solve(VectorXd::Ones(columns.rows()))};
    if (!(fit.coefficients.array() >= 0).all()) {
        // Far from the data the weighted start may leave the constraint although the log fit does not, and
        // over a huge range its weights overflow: restart inside.
        fit.coefficients.setConstant(log_values.array().exp().mean() / static_cast<double>(columns.cols()));
    }
    VectorXd model = columns * fit.coefficients;
    fit.rss = log_rss(model, log_values);
    for (int iteration = 0; iteration < 100; ++iteration) {
        const MatrixXd jacobian = model.cwiseInverse().asDiagonal() * columns;
        const VectorXd residual = log_values - model.array().log().matrix();
        const VectorXd step = jacobian.colPivHouseholderQr().solve(residual);
        double damping = 1;
        Candidate next;
        for (; damping > 1e-10; damping /= 2) {
            next.coefficients = fit.coefficients + damping * step;
            const VectorXd next_model = columns * next.coefficients;
            if ((next_model.array() <= 0).any()) continue;
            next.rss = log_rss(next_model, log_values);
            if (next.rss < fit.rss) break;
        }
        if (!(next.rss < fit.rss)) break;
        const bool converged = next.rss > fit.rss * (1 - 1e-13);
        fit = next;
        model = columns * fit.coefficients;
        if (converged) break;
    }
    if ((fit.coefficients.array() < 0).any()) return std::nullopt;
    return fit;
}

/// The best non-negative combination of 1, x, …, x^degree with x = ℓ/(n−1): the best of all choices of powers
/// whose unconstrained fit is non-negative. The constant alone always is, so there is a result.
Candidate fit_polynomial(std::size_t degree, const VectorXd& log_values) {
    const VectorXd x = VectorXd::LinSpaced(log_values.size(), 0, 1);
    Candidate best;
    for (unsigned powers = 0; powers < 1U << degree; ++powers) {
        std::vector<Eigen::Index> used{0};
        for (std::size_t k = 1; k <= degree; ++k)
            if (powers >> (k - 1) & 1) used.push_back(static_cast<Eigen::Index>(k));
        MatrixXd columns(x.size(), static_cast<Eigen::Index>(used.size()));
        for (std::size_t c = 0; c < used.size(); ++c)
            columns.col(static_cast<Eigen::Index>(c)) = x.array().pow(static_cast<double>(used[c]));
        const auto fit = fit_positive_sum(columns, log_values);
        if (!fit || fit->rss >= best.rss) continue;
        best.rss = fit->rss;
        best.coefficients = VectorXd::Zero(static_cast<Eigen::Index>(degree) + 1);
        for (std::size_t c = 0; c < used.size(); ++c)
            best.coefficients(used[c]) = fit->coefficients(static_cast<Eigen::Index>(c));
    }
    return best;
}

GrowthFit summary(double rss, std::size_t parameters, std::size_t count) {
    const auto n = static_cast<double>(count);
    const auto k = static_cast<double>(parameters + 1);
    GrowthFit fit;
    fit.rms = std::sqrt(rss / n);
    fit.aicc = 2 * n * std::log(std::max(fit.rms, exact_fit)) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
    return fit;
}

GrowthFit fit_model(GrowthModel model, const VectorXd& log_values) {
    const auto count = static_cast<std::size_t>(log_values.size());
    const auto last = static_cast<double>(count - 1);
    if (model == GrowthModel::exponential) {
        MatrixXd columns(log_values.size(), 2);
        columns.col(0).setOnes();
        columns.col(1).setLinSpaced(0, last);
        const VectorXd line = columns.colPivHouseholderQr().solve(log_values);
        GrowthFit fit = summary((log_values - columns * line).squaredNorm(), 2, count);
        fit.parameters = {std::exp(line(0)), line(1), 0};
        return fit;
    }
    if (model == GrowthModel::constant) {  // the mean of the log, as the loop below would find
        const double mean = log_values.mean();
        GrowthFit fit = summary((log_values.array() - mean).square().sum(), 1, count);
        fit.parameters = {std::exp(mean), 0, 0};
        return fit;
    }
    if (model ==
        GrowthModel::square_root) {  // v² is linear; largest value at 1, so that the squares stay in range
        const double largest = log_values.maxCoeff();
        const Candidate square = fit_polynomial(1, 2 * (log_values.array() - largest).matrix());
        GrowthFit fit = summary(square.rss / 4, 2, count);
        for (int k = 0; k < 2; ++k)
            fit.parameters[static_cast<std::size_t>(k)] =
                square.coefficients(k) * std::exp(2 * largest) / std::pow(last, k);
        return fit;
    }
    const std::size_t degree = model == GrowthModel::linear ? 1 : 2;
    const Candidate polynomial = fit_polynomial(degree, log_values);
    GrowthFit fit = summary(polynomial.rss, degree + 1, count);
    for (std::size_t k = 0; k <= degree; ++k)
        fit.parameters[k] = polynomial.coefficients(static_cast<Eigen::Index>(k)) / std::pow(last, k);
    return fit;
}

/// Whether `wider` contains `model` as a special case.
bool contains(GrowthModel wider, GrowthModel model) {
    return model == GrowthModel::constant ||
           (model == GrowthModel::linear && wider == GrowthModel::quadratic);
}

}  // namespace

std::string_view growth_model_name(GrowthModel model) {
    constexpr std::array<std::string_view, growth_model_count> names{"constant", "square root", "linear",
                                                                     "quadratic", "exponential"};
    return names.at(static_cast<std::size_t>(model));
}

GrowthClass classify_growth(std::span<const double> values) {
    VectorXd log_values(static_cast<Eigen::Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] > 0 && std::isfinite(values[i])))
            throw InputError("values[" + std::to_string(i) + "]", std::to_string(values[i]),
                             "finite numbers > 0");
        log_values(static_cast<Eigen::Index>(i)) = std::log(values[i]);
    }
    GrowthClass result;
    if (values.size() < growth_minimum_layers) {
        result.verdict = GrowthClass::Verdict::too_few_layers;
        return result;
    }
    for (std::size_t m = 0; m < growth_model_count; ++m)
        result.fits[m] = fit_model(static_cast<GrowthModel>(m), log_values);
    const auto best =
        std::min_element(result.fits.begin(), result.fits.end(),
                         [](const GrowthFit& a, const GrowthFit& b) { return a.aicc < b.aicc; });
    result.best = static_cast<GrowthModel>(best - result.fits.begin());

    result.rival = result.best;
    double rival = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < growth_model_count; ++m) {
        const auto model = static_cast<GrowthModel>(m);
        if (model == result.best || contains(model, result.best) || !(result.fits[m].aicc < rival)) continue;
        rival = result.fits[m].aicc;
        result.rival = model;
    }
    result.lead = rival - best->aicc;
    const bool decided = result.lead >= growth_decisive_lead;
    result.verdict = decided ? GrowthClass::Verdict::decided : GrowthClass::Verdict::undecided;
    return result;
}

double growth_model_value(GrowthModel model, const GrowthFit& fit, double layer) {
    const auto [a, b, c] = fit.parameters;
    if (model == GrowthModel::square_root) return std::sqrt(a + b * layer);
    return model == GrowthModel::exponential ? a * std::exp(b * layer) : a + layer * (b + layer * c);
}

}  // namespace normscope
