// SPDX-License-Identifier: GPL-3.0-or-later
// Variances over inputs and exact distances of batches, against loops and enumeration.
#include "core/probe/shift.h"

#include "core/backend/shared/counter_rng.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 4, kWidth = 8;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = 3;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.mix_post_fraction = 0.5;
    s.residual_step = 0.7;
    complete(s, 9);
    return s;
}

template <class T>
Transformer<T> model_of(const StackSpec& spec, unsigned seed = 3) {
    Transformer<T> model(spec, seed);
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, 0.4);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of(int sequences) {
    Batch batch{sequences, kTokens, {}, {}};
    std::mt19937 generator(2);
    for (int i = 0; i < sequences * kTokens; ++i) batch.tokens.push_back(static_cast<int>(generator() % 9));
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

bool near(double a, double b, double relative) {
    return std::abs(a - b) <= relative * std::abs(b);
}

}  // namespace

class ShiftTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

  private Q_SLOTS:
    /// Every assignment of five sequences enumerated; the perturbed states from the layers run here.
    void againstEnumeration() {
        constexpr std::size_t B = 5, piece = kTokens * kWidth;
        const auto model = model_of<double>(stack_of(Scheme::Peri));
        const Batch batch = batch_of(B);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("shift"), input);
        const Tape<double>& tape = input.tape();
        double squares = 0;
        for (std::size_t i = 0; i < B * piece; ++i) squares += std::pow(tape.hidden[0][i], 2);
        const double size = 0.1 * std::sqrt(squares / double(B * piece));
        std::vector<Tape<double>> perturbed(B);
        for (std::size_t b = 0; b < B; ++b) {
            std::vector<double> start(piece);
            fill_normal_row({1, "shift"}, b, 0, piece, size, start.data());
            for (std::size_t i = 0; i < piece; ++i) start[i] += tape.hidden[0][b * piece + i];
            model.forward_layers(start.data(), kTokens, perturbed[b], pool_);
        }
        for (std::size_t k = 0; k < 7; ++k) {
            std::vector<std::size_t> order(B);
            std::iota(order.begin(), order.end(), 0u);
            double least = INFINITY, paired = 0;
            do {
                double sum = 0;
                for (std::size_t b = 0; b < B; ++b)
                    for (std::size_t i = 0; i < piece; ++i)
                        sum += std::pow(tape.hidden[k][b * piece + i] - perturbed[order[b]].hidden[k][i], 2);
                if (order[0] == 0 && std::is_sorted(order.begin(), order.end())) paired = sum;
                least = std::min(least, sum);
            } while (std::next_permutation(order.begin(), order.end()));
            QVERIFY(near(values(result, "w2")[k], std::sqrt(least / B), 1e-12));
            QVERIFY(near(values(result, "w2_paired")[k], std::sqrt(paired / B), 1e-12));
            double mean_variance = 0, most = 0;
            for (std::size_t i = 0; i < piece; ++i) {
                double mean = 0, square = 0;
                for (std::size_t b = 0; b < B; ++b) {
                    mean += tape.hidden[k][b * piece + i] / B;
                    square += std::pow(tape.hidden[k][b * piece + i], 2) / B;
                }
                mean_variance += (square - mean * mean) / piece;
                most = std::max(most, square - mean * mean);
            }
            QVERIFY(near(values(result, "variance_mean")[k], mean_variance, 1e-10));
            QVERIFY(near(values(result, "variance_max")[k], most, 1e-10));
        }
    }

    /// The Peri-LN bounds written out: W + 2Δt√(nd)‖γ‖∞ a sub-layer, without β; E[R²].
    void boundsOfPeriLayersWrittenOut() {
        const auto model = model_of<double>(stack_of(Scheme::Peri));
        const Batch batch = batch_of(6);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_shift(input);
        const double entries = std::sqrt(double(kTokens * kWidth));
        double shift = values(result, "w2")[0];
        std::vector<double> norms(6);
        for (std::size_t b = 0; b < 6; ++b)
            for (std::size_t i = 0; i < kTokens * kWidth; ++i)
                norms[b] += std::pow(input.tape().hidden[0][b * kTokens * kWidth + i], 2);
        for (double& r : norms) r = std::sqrt(r);
        for (std::size_t k = 0; k < 7; ++k) {
            double squares = 0;
            for (const double r : norms) squares += r * r / 6;
            QVERIFY(near(values(result, "w2_bound")[k], shift, 1e-12));
            QVERIFY(near(values(result, "variance_bound")[k], squares, 1e-12));
            if (k == 6) break;
            const auto& at = k % 2 == 0 ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                                        : model.table().feed_forward[k / 2];
            double gamma = 0, beta = 0;
            for (std::size_t i = 0; i < kWidth; ++i) {
                gamma = std::max(gamma, std::abs(model.parameters()[at.norm_out.weight + i]));
                beta = std::max(beta, std::abs(model.parameters()[at.norm_out.bias + i]));
            }
            shift += 2 * 0.7 * entries * gamma;
            for (double& r : norms) r += 0.7 * entries * (gamma + beta);
        }
    }

    /// 256 inputs, every scheme, gated and not: the measured values stay below their bounds, and W₂ below the
    /// paired distance.
    void boundsHold_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<bool>("gated");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (const bool gated : {false, true})
                QTest::addRow("%s%s", word_of(static_cast<Scheme>(scheme)), gated ? " gated" : "")
                    << scheme << gated;
    }
    void boundsHold() {
        QFETCH(int, scheme);
        QFETCH(bool, gated);
        StackSpec spec = stack_of(static_cast<Scheme>(scheme));
        spec.gpas.enabled = gated;
        const auto model = model_of<double>(spec, 7);
        const Batch batch = batch_of(256);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("shift"), input);
        const bool bounded = spec.scheme == Scheme::Pre || spec.scheme == Scheme::Lns ||
                             spec.scheme == Scheme::Peri || spec.scheme == Scheme::Sandwich ||
                             spec.scheme == Scheme::Output;
        for (std::size_t k = 0; k < 7; ++k) {
            const double w2 = values(result, "w2")[k], bound = values(result, "w2_bound")[k];
            QVERIFY(w2 > 0 && w2 <= values(result, "w2_paired")[k] * (1 + 1e-12));
            if (bounded || k == 0) QVERIFY(w2 <= bound * (1 + 1e-12));
            if (bounded || k == 0)
                QVERIFY(values(result, "variance_max")[k] <= values(result, "variance_bound")[k]);
            if (k == 6) QCOMPARE(std::isnan(bound), !bounded);
        }
    }

    void whatIsNotFiniteIsNan() {
        auto model = model_of<float>(stack_of(Scheme::Peri));
        model.parameters()[model.table().attention[1].bo] = std::numeric_limits<float>::quiet_NaN();
        const Batch batch = batch_of(3);
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult result = probe_shift(input);
        for (std::size_t k = 0; k < 7; ++k) {
            QCOMPARE(std::isnan(values(result, "w2")[k]), k > 2);
            QCOMPARE(std::isnan(values(result, "variance_mean")[k]), k > 2);
        }
    }
};

NORMSCOPE_TEST(ShiftTest)
#include "shift_test.moc"
