// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/theta.h"

#include "core/probe/interface/row_sample.h"
#include "core/probe/registry.h"
#include "core/theory/softmax_sensitivity.h"
#include "tests/probe/attention_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <set>

using namespace normscope;
using namespace normscope::attention_model;

namespace {

/// θ relative to the uniform row, of every row of two entries or more of one head, by sequence.
template <class T>
std::vector<std::vector<double>> relative_rows(ProbeInput<T>& input, std::size_t layer, std::size_t head) {
    std::vector<std::vector<double>> rows;
    for (int b = 0; b < input.tape().sequences; ++b) {
        rows.emplace_back();
        for (std::size_t i = 1; i < static_cast<std::size_t>(input.tape().length); ++i) {
            const auto p = row_of(input, layer, b, head, i);
            rows.back().push_back(softmax_sensitivity(std::span<const T>(p)).value /
                                  (p.size() % 2 ? 1 - 1.0 / static_cast<double>(p.size() * p.size()) : 1));
        }
    }
    return rows;
}

}  // namespace

class ThetaTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Odd lengths reach only 1 − 1/L²: 3, 5, 7 and 9 of the 63 lengths are below 0.99, and none of them
    /// relative to it.
    void uniformAttentionIsAtOneOfItsOwn() {
        auto model = model_of<float>(stack_of(2, 2, 64), 1);
        silence_queries(model);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 64);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        for (std::size_t at = 0; at < 4; ++at) {
            QCOMPARE(values(result, "relative_below_099").at(at), 0.0);
            QCOMPARE(values(result, "below_099").at(at), 4.0 / 63);
            QVERIFY(std::abs(values(result, "relative_mean").at(at) - 1) < 1e-6);
            QVERIFY(std::abs(values(result, "peaked_mean").at(at) - 1) < 1e-6);
            for (std::size_t q = 0; q < 5; ++q)
                QVERIFY(std::abs(values(result, "quantiles").at(5 * at + q) - 1) < 1e-6);
        }
        QCOMPARE(result.labels.at("sampled").at(0), "504 of 504 rows");
    }

    /// ‖∂p/∂logits‖_{∞→1} = max over x in {−1, 1}^L of ‖(diag(p) − ppᵀ) x‖₁ / τ.
    void overTauIsTheLipschitzConstant() {
        auto model = model_of<double>(stack_of(1, 2, 7), 3);
        model.numerics.temperature = 2.5;
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 7);
        ProbeInput<double> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        for (std::size_t head = 0; head < 2; ++head) {
            double sum = 0;
            for (int b = 0; b < 2; ++b)
                for (std::size_t i = 1; i < 7; ++i) {
                    const auto p = row_of(input, 0, b, head, i);
                    double norm = 0;
                    for (unsigned signs = 0; signs < 1u << p.size(); ++signs) {
                        const auto x = [&](std::size_t j) { return signs >> j & 1 ? 1.0 : -1.0; };
                        double dot = 0, moved = 0;
                        for (std::size_t j = 0; j < p.size(); ++j) dot += p[j] * x(j);
                        for (std::size_t j = 0; j < p.size(); ++j)
                            moved += std::abs(p[j] * (x(j) - dot)) / 2.5;
                        norm = std::max(norm, moved);
                    }
                    sum += norm / 12;
                }
            QVERIFY(std::abs(values(result, "over_tau").at(head) - sum) < 1e-13);
        }
    }

    /// Keys that a window hides are no entries of a row: uniform rows of local layers are at their own θ.
    void rowsOfAWindowAreAtTheirOwnLength() {
        for (const int window : {3, 1}) {
            StackSpec spec = stack_of(2, 2, 64);
            spec.rope_global_every = 2;  // layer 1 is local
            spec.window = window;
            auto model = model_of<float>(spec, 1);
            silence_queries(model);
            ThreadPool pool(1);
            const Batch batch = batch_of(2, 64);
            ProbeInput<float> input(model, batch, pool, 0);
            const auto result = run_probe(*find_probe("theta"), input);
            for (std::size_t at = 0; at < 4; ++at) {
                const bool local = at < 2;
                if (local && window == 1) {  // all are one-hot
                    QVERIFY(std::isnan(values(result, "relative_mean").at(at)));
                    continue;
                }
                QCOMPARE(values(result, "relative_below_099").at(at), 0.0);
                QVERIFY(std::abs(values(result, "relative_mean").at(at) - 1) < 1e-6);
                // Of 63 rows one has two entries and 62 have three, whose uniform θ is 8/9.
                QCOMPARE(values(result, "below_099").at(at), local ? 62.0 / 63 : 4.0 / 63);
            }
        }
    }

    void quantilesAndErrorsOfAllRows() {
        const auto model = model_of<float>(stack_of(2, 2, 12), 5);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 12);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        for (std::size_t at = 0; at < 4; ++at) {
            const auto rows = relative_rows(input, at / 2, at % 2);
            std::vector<double> sorted = rows[0];
            sorted.insert(sorted.end(), rows[1].begin(), rows[1].end());
            std::sort(sorted.begin(), sorted.end());
            QCOMPARE(sorted.size(), std::size_t{22});
            const double shares[] = {0, 0.05, 0.5, 0.95, 1};
            for (std::size_t q = 0; q < 5; ++q) {
                const double position = shares[q] * 21;
                const auto k = static_cast<std::size_t>(position);
                const double next = k < 21 ? sorted[k + 1] : 0, part = position - static_cast<double>(k);
                QVERIFY(std::abs(values(result, "quantiles").at(5 * at + q) -
                                 ((1 - part) * sorted[k] + part * next)) < 1e-12);
            }
            // Of two sequences with as many rows each the jackknife error is half the difference of their
            // means.
            const double a = mean_of(rows[0]), b = mean_of(rows[1]);
            QVERIFY(std::abs(values(result, "relative_mean").at(at) - (a + b) / 2) < 1e-12);
            QVERIFY(std::abs(values(result, "relative_mean_error").at(at) - std::abs(a - b) / 2) < 1e-12);
        }
    }

    void greedyAndPeakedBoundsEncloseTheta() {
        const auto model = model_of<double>(stack_of(2, 2, 12), 5);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 12);
        ProbeInput<double> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        for (std::size_t at = 0; at < 4; ++at) {
            double peaked = 0, prefix = 0;
            for (int b = 0; b < 2; ++b)
                for (std::size_t i = 1; i < 12; ++i) {
                    auto p = row_of(input, at / 2, b, at % 2, i);
                    std::sort(p.rbegin(), p.rend());
                    peaked += (p[0] >= 0.5 ? 4 * p[0] * (1 - p[0]) : 1) / 22;
                    double sum = 0, best = 0;
                    for (const double v : p) {
                        sum += v;
                        best = std::max(best, 4 * sum * (1 - sum));
                    }
                    prefix += best / 22;
                }
            QVERIFY(std::abs(values(result, "peaked_mean").at(at) - peaked) < 1e-12);
            QVERIFY(std::abs(values(result, "prefix_mean").at(at) - prefix) < 1e-12);
            QVERIFY(prefix <= values(result, "mean").at(at) + 1e-12 &&
                    values(result, "mean").at(at) <= peaked + 1e-12);
            QVERIFY(prefix < values(result, "mean").at(at) - 1e-6);  // greedy is not exact
        }
    }

    void theLowestRowIsTheTapesOwn() {
        const auto model = model_of<double>(stack_of(2, 2, 12), 5);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 12);
        ProbeInput<double> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        QCOMPARE(result.find("lowest_row")->shape, (std::vector<std::size_t>{2, 2, 12}));
        for (std::size_t at = 0; at < 4; ++at) {
            const double* info = &values(result, "lowest_info").at(3 * at);
            const auto p =
                row_of(input, at / 2, static_cast<int>(info[0]), at % 2, static_cast<std::size_t>(info[1]));
            // Rows of 11 and 12 entries in each of two sequences: the lowest of these, though shorter ones
            // may lie lower.
            QVERIFY(p.size() >= kThetaLowestLength);
            double least = 2;
            for (int sequence = 0; sequence < 2; ++sequence)
                for (const std::size_t row : {10, 11}) {
                    const auto other = row_of(input, at / 2, sequence, at % 2, row);
                    least = std::min(
                        least, softmax_sensitivity(other).value / uniform_row_sensitivity(other.size()));
                }
            QVERIFY(std::abs(info[2] / uniform_row_sensitivity(p.size()) - least) < 1e-12);
            double mass = 0;
            for (std::size_t i = 0; i < 12; ++i) {
                const double kept = values(result, "lowest_row").at(12 * at + i),
                             inside = values(result, "lowest_subset").at(12 * at + i);
                QCOMPARE(std::isnan(kept), i >= p.size());
                QCOMPARE(std::isnan(inside), i >= p.size());
                if (i < p.size()) QCOMPARE(kept, p[i]);
                if (i < p.size()) mass += inside * kept;
            }
            QVERIFY(std::abs(4 * mass * (1 - mass) - info[2]) < 1e-12);
        }
    }

    void aHeadThatIsNotFiniteStaysNan() {
        auto model = model_of<float>(stack_of(2, 2, 12), 5);
        spoil_query(model, 0);  // the first head of the first layer
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 12);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        for (const NamedArray& array : result.arrays) {
            if (array.shape.empty()) continue;
            const std::size_t stride = array.data.size() / 4;
            for (std::size_t i = 0; i < stride; ++i) QVERIFY2(std::isnan(array.data[i]), array.name.c_str());
            QVERIFY2(std::isfinite(array.data[stride]), array.name.c_str());  // its neighbour is measured
        }
        const auto sound = model_of<float>(stack_of(2, 2, 12), 5);
        ProbeInput<float> other(sound, batch, pool, 0);
        const auto healthy = run_probe(*find_probe("theta"), other);
        QCOMPARE(result.arrays.size(), healthy.arrays.size());
        for (const NamedArray& array : healthy.arrays) QCOMPARE(result.find(array.name)->shape, array.shape);
        QCOMPARE(result.labels, healthy.labels);
    }

    void theSampleTakesAllLengthsOfAllSequences() {
        const RowSample sample(48, 8, 64, true, 2048);
        QCOMPARE(sample.all(), std::size_t{24192});
        QVERIFY(sample.taken() > 1500 && sample.taken() <= 2100);
        QCOMPARE(sample.stride % 2, std::size_t{1});
        std::set<std::size_t> rows;
        for (std::size_t h = 0; h < 48; ++h)
            for (std::size_t b = 0; b < 8; ++b) {
                std::size_t odd = 0, even = 0;
                for (std::size_t i = sample.start(h, b); i < 64; i += sample.stride) {
                    rows.insert(i);
                    (i % 2 ? odd : even) += 1;
                }
                QVERIFY(odd > 0 && even > 0);
            }
        QCOMPARE(rows.size(), std::size_t{63});
        QCOMPARE(*rows.begin(), std::size_t{1});
        const RowSample small(4, 2, 12, true, 2048), tiny(1, 1, 1, true, 2048), many(5000, 8, 16, true, 2048);
        QCOMPARE(small.taken(), small.all());
        QCOMPARE(tiny.taken(), std::size_t{0});
        QVERIFY(many.taken() >= 5000 * 8);  // every sequence of every head once
    }

    void sampledRowsRepresentAll() {
        const auto model = model_of<float>(stack_of(6, 4, 32), 7);
        ThreadPool pool(1);
        const Batch batch = batch_of(8, 32);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("theta"), input);
        QCOMPARE(result.labels.at("sampled").at(0).substr(result.labels.at("sampled").at(0).find(" of")),
                 " of 5,952 rows");
        double sampled = 0, all = 0;
        int far = 0;
        for (std::size_t at = 0; at < 24; ++at) {
            double sum = 0;
            for (const auto& rows : relative_rows(input, at / 4, at % 4)) sum += mean_of(rows) / 8;
            const double value = values(result, "relative_mean").at(at),
                         error = values(result, "relative_mean_error").at(at);
            far += std::abs(value - sum) > 3 * error;
            sampled += value / 24;
            all += sum / 24;
        }
        QVERIFY2(far <= 1, qPrintable(QString::number(far)));
        QVERIFY2(std::abs(sampled - all) < 5e-3, qPrintable(QString("%1 %2").arg(sampled).arg(all)));
    }
};

NORMSCOPE_TEST(ThetaTest)
#include "theta_test.moc"
