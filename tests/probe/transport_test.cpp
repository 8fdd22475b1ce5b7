// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/transport.h"

#include "tests/support/test_main.h"

#include <Eigen/Dense>

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kVocab = 13;

StackSpec stack_of(Scheme scheme, int width, int context) {
    StackSpec s;
    s.depth = 3;
    s.d_model = width;
    s.heads = 2;
    s.context = context;
    s.scheme = scheme;
    complete(s, kVocab);
    return s;
}

Batch batch_of(int sequences, int length) {
    Batch batch{sequences, length, {}, {}};
    for (int i = 0; i < sequences * length; ++i) {
        batch.tokens.push_back((5 * i + i * i / 3) % kVocab);
        batch.targets.push_back((7 * i + 2) % kVocab);
    }
    return batch;
}

/// The standard error of a mean.
double error_of_mean(const std::vector<double>& values) {
    double mean = 0, squares = 0;
    const auto n = static_cast<double>(values.size());
    for (const double v : values) mean += v / n;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return std::sqrt(squares / n / (n - 1));
}

bool near(double a, double b, double tolerance = 1e-12) {
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

}  // namespace

class TransportTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};

    const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
        return result.find(name)->data;
    }

    /// Every array from the gradients of the hidden states, the participation by singular values.
    template <class T>
    void check(Scheme scheme, int width, int length, int sequences) {
        const Transformer<T> model(stack_of(scheme, width, length), 5);
        const Batch batch = batch_of(sequences, length);
        ProbeInput<T> input(model, batch, pool_, 0);
        const ProbeResult found = probe_transport(input);
        const auto& record = input.backward();
        const std::size_t states = record.hidden.size();
        QCOMPARE(states, std::size_t{7});
        const auto gradient = [&](std::size_t k, int b) {
            const HostView<T> all(record.hidden[k]);
            Matrix g(length, width);
            for (int i = 0; i < length * width; ++i)
                g.data()[i] = static_cast<double>(all[static_cast<std::size_t>(b * length * width + i)]);
            return g;
        };
        for (std::size_t k = 0; k < states; ++k) {
            std::vector<double> ratios, participation, first, all;
            for (int b = 0; b < sequences; ++b) {
                const Matrix g = gradient(k, b), last = gradient(states - 1, b);
                for (int t = 0; t < length; ++t) ratios.push_back(g.row(t).norm() / last.row(t).norm());
                const Eigen::VectorXd sigma = Eigen::JacobiSVD<Matrix>(g).singularValues();
                participation.push_back(std::pow(sigma.squaredNorm(), 2) / sigma.array().pow(4).sum());
                first.push_back(g.row(0).squaredNorm());
                all.push_back(g.squaredNorm());
            }
            std::sort(ratios.begin(), ratios.end());
            const auto at = [&](double q) {  // linear between neighbours
                const double position = q * static_cast<double>(ratios.size() - 1);
                const auto below = static_cast<std::size_t>(std::floor(position));
                if (below + 1 == ratios.size()) return ratios.back();
                return ratios[below] +
                       (position - static_cast<double>(below)) * (ratios[below + 1] - ratios[below]);
            };
            QVERIFY(near(values(found, "lower_quartile")[k], at(0.25)));
            QVERIFY(near(values(found, "median_token")[k], at(0.5)));
            QVERIFY(near(values(found, "upper_quartile")[k], at(0.75)));
            double first_sum = 0, all_sum = 0, participation_sum = 0;
            for (std::size_t b = 0; b < all.size(); ++b) {
                first_sum += first[b];
                all_sum += all[b];
                participation_sum += participation[b];
            }
            QVERIFY(near(values(found, "first_token_share")[k], first_sum / all_sum));
            // Of products in the scalar of the run.
            constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
            QVERIFY(near(values(found, "participation")[k],
                         participation_sum / static_cast<double>(sequences), tolerance));
            QVERIFY(
                near(values(found, "participation_error")[k], error_of_mean(participation), 1e3 * tolerance));
            std::vector<double> omitted;  // the jackknife of a ratio of sums
            double mean = 0, squares = 0;
            for (std::size_t b = 0; b < all.size(); ++b)
                omitted.push_back((first_sum - first[b]) / (all_sum - all[b]));
            const auto n = static_cast<double>(omitted.size());
            for (const double v : omitted) mean += v / n;
            for (const double v : omitted) squares += (v - mean) * (v - mean);
            QVERIFY(
                near(values(found, "first_token_share_error")[k], std::sqrt((n - 1) / n * squares), 1e-9));
        }
    }

  private Q_SLOTS:
    void directFormulas() {
        check<double>(Scheme::Pre, 8, 5, 3);
        check<double>(Scheme::Post, 6, 6, 2);
        check<double>(Scheme::Peri, 6, 11, 4);
        check<float>(Scheme::Post, 8, 7, 3);
    }

    /// Δt = 0 and no norm after the sum: every layer is the identity.
    void theIdentityKeepsEveryGradient() {
        StackSpec spec = stack_of(Scheme::Pre, 8, 6);
        spec.residual_step = 1e-14;
        const Transformer<double> model(spec, 5);
        const Batch batch = batch_of(2, 6);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_transport(input);
        for (const char* name : {"lower_quartile", "median_token", "upper_quartile"})
            for (const double v : values(found, name)) QVERIFY2(near(v, 1), name);
        const auto& share = values(found, "first_token_share");
        for (const double v : share) QVERIFY(near(v, share.back()) && v > 0 && v < 1);
    }

    void oneTokenHasAllOfIt() {
        const Transformer<double> model(stack_of(Scheme::Post, 8, 6), 5);
        const Batch batch = batch_of(3, 1);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_transport(input);
        for (const double v : values(found, "first_token_share")) QCOMPARE(v, 1.0);
        for (const double v : values(found, "participation")) QVERIFY(near(v, 1));
    }

    /// Of tiny gradients the fourth powers are below the smallest double.
    void tinyGradients() {
        Transformer<double> model(stack_of(Scheme::Post, 8, 6), 5);
        const Batch batch = batch_of(2, 6);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_transport(input);
        const Batch batch_scaled = batch_of(2, 6);
        ProbeInput<double> scaled(model, batch_scaled, pool_, 0, nullptr, std::ldexp(1.0, -700));
        const ProbeResult of_scaled = probe_transport(scaled);
        for (std::size_t k = 0; k < 7; ++k)
            QVERIFY(near(values(of_scaled, "participation")[k], values(found, "participation")[k]));
    }

    void whatIsNotFiniteIsNan() {
        Transformer<float> model(stack_of(Scheme::Pre, 8, 5), 5);
        model.parameters()[model.table().attention[1].wo] = INFINITY;
        const Batch batch = batch_of(2, 5);
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult found = probe_transport(input);
        for (const NamedArray& array : found.arrays) {
            QCOMPARE(array.data.size(), std::size_t{7});
            QVERIFY2(std::isnan(array.data[0]), array.name.c_str());
        }
    }
};

NORMSCOPE_TEST(TransportTest)
#include "transport_test.moc"
