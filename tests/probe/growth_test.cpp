// SPDX-License-Identifier: GPL-3.0-or-later
// The bounds on growth under GPAS at every site, the errors over sequences and the variance estimate.
#include "core/probe/growth.h"

#include "core/backend/row/gate.h"
#include "core/probe/bounds/branch_bound.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kWidth = 8, kDepth = 4;

StackSpec stack_of(Scheme scheme, Layout layout) {
    StackSpec s;
    s.depth = kDepth;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.layout = layout;
    complete(s, 9);
    return s;
}

/// Norms, biases, scales and gates away from where they start; the gates on both sides of 0, so that 1 −
/// act(α) is both below and above 1.
template <class T>
Transformer<T> model_of(const StackSpec& spec, unsigned seed) {
    Transformer<T> model(spec, seed);
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, 0.8);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of(int sequences) {
    Batch batch{sequences, kTokens, {}, {}};
    for (int i = 0; i < sequences * kTokens; ++i) batch.tokens.push_back((7 * i + i / 3) % 9);
    return batch;
}

constexpr GateSite kSites[] = {GateSite::Output, GateSite::Shortcut, GateSite::Input, GateSite::Norm,
                               GateSite::Branch};

const std::vector<double>& values(const ProbeResult& result, const char* name) {
    return result.find(name)->data;
}

}  // namespace

class GrowthTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};

    template <class T>
    void check_bounds(Rounding rounding, double slack) {
        int attained = 0;
        for (Scheme scheme : {Scheme::Peri, Scheme::Output})
            for (Layout layout : {Layout::Serial, Layout::Parallel})
                for (BranchScale scale : {BranchScale::None, BranchScale::Scalar, BranchScale::Channel})
                    for (NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
                        for (GateSite site : kSites)
                            for (unsigned seed = 1; seed <= 6; ++seed) {
                                StackSpec s = stack_of(scheme, layout);
                                s.branch_scale = scale;
                                s.norm.kind = kind;
                                s.gpas.enabled = true;
                                s.gpas.site = site;
                                s.residual_step = 0.3 * seed;
                                s.layers = {{0, {}, {}}, {1, {}, {}}};
                                s.layers[0].attn.a = -1.5;
                                s.layers[1].ffn.b = -0.5;
                                auto model = model_of<T>(s, seed);
                                if (rounding != Rounding::None) {
                                    const std::vector<T> weights(model.parameters().begin(),
                                                                 model.parameters().end());
                                    model.set_rounding(rounding);
                                    model.set_parameters(weights);
                                }
                                const Batch batch = batch_of(2);
                                ProbeInput<T> input(model, batch, pool_, 0);
                                const ProbeResult growth = probe_growth(input);
                                const auto &rms = values(growth, "rms"), &bound = values(growth, "bound_ma");
                                for (std::size_t k = 0; k < rms.size(); ++k) {
                                    QVERIFY(std::isfinite(bound[k]));
                                    QVERIFY2(
                                        rms[k] <= bound[k] * (1 + slack),
                                        qPrintable(QString("%1 %2 site %3 state %4: %5 above %6")
                                                       .arg(word_of(scheme), word_of(layout), word_of(site))
                                                       .arg(k)
                                                       .arg(rms[k])
                                                       .arg(bound[k])));
                                    QVERIFY(values(growth, "ma")[k] <= bound[k] * (1 + slack));
                                    QVERIFY(values(growth, "var")[k] <=
                                            values(growth, "bound_var")[k] * (1 + 2 * slack));
                                    attained += k > 0 && rms[k] > 0.5 * bound[k];
                                }
                            }
        QVERIFY(attained > 500);  // a bound far off would hold with the gates wrong, too
    }

  private Q_SLOTS:
    /// R_k is hard for any weights and gates, up to the rounding of the passes.
    void boundsHoldUnderGates64() { check_bounds<double>(Rounding::None, 1e-12); }
    void boundsHoldUnderGates32() { check_bounds<float>(Rounding::None, 1e-5); }
    void boundsHoldUnderGatesBf16() { check_bounds<float>(Rounding::Bf16, 0x1p-7); }

    /// With a branch scale of 0 only the shortcuts and gates are left, and the bound is the norm itself: a
    /// gate that is skipped, counted twice or put at the wrong sub-layer shows as a difference.
    void boundsAreSharpInTheGates() {
        for (Layout layout : {Layout::Serial, Layout::Parallel})
            for (GateSite site : kSites) {
                StackSpec s = stack_of(Scheme::Peri, layout);
                s.branch_scale = BranchScale::Scalar;
                s.gpas.enabled = true;
                s.gpas.site = site;
                auto model = model_of<double>(s, 11);
                for (const TensorInfo& t : model.table().tensors())
                    if (t.name.find("scale") != std::string::npos) model.parameters()[t.offset] = 0;
                const Batch batch = batch_of(3);
                ProbeInput<double> input(model, batch, pool_, 0);
                const ProbeResult growth = probe_growth(input);
                const bool moves = site != GateSite::Norm && site != GateSite::Branch;
                for (std::size_t k = 0; k <= 2 * kDepth; ++k) {
                    const double rms = values(growth, "rms")[k];
                    QVERIFY2(std::abs(values(growth, "bound_ma")[k] / rms - 1) < 1e-12, word_of(site));
                    if (k == 2 * kDepth) QCOMPARE(std::abs(rms / values(growth, "rms")[0] - 1) > 1e-3, moves);
                }
            }
    }

    void theUniformFormIsLooserAndHasNoGates() {
        StackSpec s = stack_of(Scheme::Peri, Layout::Serial);
        const Batch batch = batch_of(2);
        const auto model = model_of<double>(s, 2);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        const auto &sharp = values(growth, "bound_ma"), &loose = values(growth, "bound_uniform_ma");
        QCOMPARE(sharp[0], loose[0]);
        for (std::size_t k = 1; k < sharp.size(); ++k) QVERIFY(sharp[k] < loose[k]);
        for (std::size_t k = 2; k < sharp.size(); ++k)  // the same for every sub-layer
            QVERIFY(std::abs(loose[k] - loose[k - 1] - (loose[1] - loose[0])) < 1e-12 * loose[k]);
        s.gpas.enabled = true;
        const auto gated = model_of<double>(s, 2);
        ProbeInput<double> under_gates(gated, batch, pool_, 0);
        const ProbeResult with_gates = probe_growth(under_gates);
        for (double v : values(with_gates, "bound_uniform_ma")) QVERIFY(std::isnan(v));
    }

    /// block_rms is the RMS of the token whose RMS is largest, wherever in the batch it is.
    void theHeaviestTokenOfEveryState() {
        const auto model = model_of<double>(stack_of(Scheme::Pre, Layout::Serial), 5);
        const Batch batch = batch_of(3);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        std::set<int> places;
        for (std::size_t k = 0; k <= 2 * kDepth; ++k) {
            double heaviest = 0;
            int place = -1;
            const double* x = input.tape().hidden[k];
            for (int token = 0; token < 3 * kTokens; ++token, x += kWidth) {
                const double rms = std::sqrt(std::inner_product(x, x + kWidth, x, 0.0) / kWidth);
                if (rms > heaviest) heaviest = rms, place = token;
            }
            QVERIFY(std::abs(values(growth, "block_rms")[k] / heaviest - 1) < 1e-12);
            places.insert(place);
        }
        QVERIFY(*places.begin() < 3 * kTokens - 1);  // not always the last one
    }

    /// Without value weights attention returns W^O b^V + b^O, each head with the values of its group: the
    /// bound is attained.
    void attentionOfBiasesAloneAttainsItsBound() {
        StackSpec s = stack_of(Scheme::Pre, Layout::Serial);
        s.heads = 4;
        s.kv_heads = 2;
        auto model = model_of<double>(s, 3);
        const TensorInfo* values = model.table().find("blocks.0.attn.wv");
        QVERIFY(values);
        std::fill_n(model.parameters().data() + values->offset, values->count, 0.0);
        const Batch batch = batch_of(1);
        ProbeInput<double> input(model, batch, pool_, 0);
        const double* f = input.tape().sublayers[0].f;
        for (int token = 0; token < kTokens; ++token, f += kWidth) {
            const double norm = std::sqrt(std::inner_product(f, f + kWidth, f, 0.0));
            QVERIFY(norm > 0.1 && std::abs(branch_bound(model, 0, 1.0).token / norm - 1) < 1e-12);
        }
    }

    /// The prefix ends where a sub-layer has a post norm, or no output norm.
    void boundsEndWithThePrefix() {
        StackSpec s = stack_of(Scheme::Peri, Layout::Serial);
        s.layers = {{2, {}, {}}};
        s.layers[0].attn.post = true;
        const Batch batch = batch_of(2);
        const auto model = model_of<double>(s, 2);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        for (const char* name : {"bound_ma", "bound_var", "bound_uniform_ma"})
            for (std::size_t k = 0; k <= 2 * kDepth; ++k)
                QCOMPARE(std::isfinite(values(growth, name)[k]), k <= 4);
    }

    /// σ² ← (1 − act(α))²·(σ² + σ), from the embedding's variance.
    void gpasEstimate() {
        StackSpec s = stack_of(Scheme::Pre, Layout::Serial);
        const Batch batch = batch_of(2);
        const auto estimate_of = [&](const Transformer<double>& model) {
            ProbeInput<double> input(model, batch, pool_, 0);
            return values(probe_growth(input), "gpas_estimate");
        };
        for (double v : estimate_of(model_of<double>(s, 5))) QVERIFY(std::isnan(v));
        s.gpas.enabled = true;
        const auto model = model_of<double>(s, 5);
        const auto found = estimate_of(model);
        ProbeInput<double> input(model, batch, pool_, 0);
        double variance = probe_growth(input).find("var")->data[0];
        for (std::size_t k = 0; k <= 2 * kDepth; ++k) {
            QVERIFY(std::abs(found[k] / variance - 1) < 1e-13);
            if (k == 2 * kDepth) break;
            const double alpha = model.parameters()[model.table().attention[k / 2].gate];
            const double kept = 1 - alpha / (1 + std::exp(-alpha));
            variance = kept * kept * (variance + std::sqrt(variance));
        }
        s.gpas.site = GateSite::Branch;
        for (double v : estimate_of(model_of<double>(s, 5))) QVERIFY(std::isnan(v));
        s.gpas.site = GateSite::Auto;
        s.residual_step = 0.5;
        for (double v : estimate_of(model_of<double>(s, 5))) QVERIFY(std::isnan(v));
    }

    /// Against the direct formulas, leaving each sequence out in a pass of its own.
    void numbersAndTheirErrors() {
        const int sequences = 4;
        const auto model = model_of<double>(stack_of(Scheme::Pre, Layout::Serial), 7);
        const Batch batch = batch_of(sequences);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        const auto direct = [&](std::size_t k, int without) {
            std::vector<double> x;
            for (int r = 0; r < sequences * kTokens; ++r)
                if (r / kTokens != without)
                    x.insert(x.end(), input.tape().hidden[k] + r * kWidth,
                             input.tape().hidden[k] + (r + 1) * kWidth);
            double mean = 0, ma = 0, squares = 0, spread = 0;
            const double n = static_cast<double>(x.size());
            for (double v : x) mean += v / n, ma += std::abs(v) / n, squares += v * v / n;
            for (double v : x) spread += (v - mean) * (v - mean) / (n - 1);
            return std::array{ma, spread, std::sqrt(squares)};
        };
        for (std::size_t k = 0; k <= 2 * kDepth; ++k) {
            const auto all = direct(k, -1);
            std::array<double, 3> mean{}, squares{};
            for (int b = 0; b < sequences; ++b)
                for (std::size_t i = 0; i < 3; ++i) mean[i] += direct(k, b)[i] / sequences;
            for (int b = 0; b < sequences; ++b)
                for (std::size_t i = 0; i < 3; ++i) squares[i] += std::pow(direct(k, b)[i] - mean[i], 2);
            const std::array names{std::pair("ma", "ma_error"), std::pair("var", "var_error"),
                                   std::pair("rms", "rms_error")};
            for (std::size_t i = 0; i < 3; ++i) {
                QVERIFY(std::abs(values(growth, names[i].first)[k] / all[i] - 1) < 1e-13);
                const double error = std::sqrt((sequences - 1.0) / sequences * squares[i]);
                QVERIFY(std::abs(values(growth, names[i].second)[k] - error) < 1e-12 * all[i]);
            }
        }
    }

    void nothingFiniteIsNan() {
        auto model = model_of<float>(stack_of(Scheme::Peri, Layout::Serial), 3);
        model.parameters()[model.table().attention[1].norm_out.weight] = INFINITY;
        const Batch batch = batch_of(2);
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        for (const NamedArray& array : growth.arrays) {
            QCOMPARE(array.data.size(), std::size_t{2 * kDepth + 1});
            for (double v : array.data) QVERIFY(!std::isinf(v));
        }
        QVERIFY(std::isfinite(values(growth, "rms")[2]) && std::isnan(values(growth, "rms")[3]));
        QVERIFY(std::isfinite(values(growth, "bound_ma")[2]) && std::isnan(values(growth, "bound_ma")[3]));
        QVERIFY(std::isnan(values(growth, "block_rms")[3]));
    }
};

NORMSCOPE_TEST(GrowthTest)
#include "growth_test.moc"
