// SPDX-License-Identifier: GPL-3.0-or-later
// The bounds on growth of stacks whose branches begin with a norm.
#include "core/probe/bounds/branch_bound.h"
#include "core/probe/growth.h"
#include "core/theory/growth_bounds.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 6;

Batch batch_of(int sequences) {
    Batch batch{sequences, kTokens, {}, {}};
    for (int i = 0; i < sequences * kTokens; ++i) {
        batch.tokens.push_back((7 * i + i / 3) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

/// Every option that the bounds know, drawn apart.
StackSpec drawn_stack(std::mt19937& generator) {
    const auto one_of = [&](auto... values) {
        const std::array all{values...};
        return all[generator() % all.size()];
    };
    StackSpec s;
    apply_block_preset(s, one_of(Block::Gpt2, Block::Llama));
    s.depth = 3;
    s.heads = 4;
    s.d_model = one_of(8, 24);
    s.d_ff = one_of(5, 40);
    s.kv_heads = one_of(1, 2, 4);
    s.context = kTokens;
    s.scheme = one_of(Scheme::Pre, Scheme::Pre, Scheme::Lns, Scheme::Custom);
    s.lns_form = one_of(LnsForm::Factor, LnsForm::Gamma);
    s.norm.kind = one_of(NormKind::LayerNorm, NormKind::RmsNorm);
    s.activation = one_of(Activation::GeluTanh, Activation::GeluErf, Activation::Relu, Activation::Silu,
                          Activation::SwiGlu);
    s.bias = one_of(true, false);
    s.causal = one_of(true, false);
    s.layout = one_of(Layout::Serial, Layout::Serial, Layout::Parallel);
    s.qk_norm = one_of(QkNorm::Off, QkNorm::Head, QkNorm::Full);
    s.branch_scale = one_of(BranchScale::None, BranchScale::Scalar, BranchScale::Channel);
    s.residual_step = one_of(1.0, 0.3, 2.0);
    s.temperature = one_of(1.0, 0.2);
    s.gpas.enabled = one_of(true, false);
    s.gpas.site =
        one_of(GateSite::Output, GateSite::Shortcut, GateSite::Input, GateSite::Norm, GateSite::Branch);
    s.layers = {{0, {}, {}}, {1, {}, {}}, {2, {}, {}}};
    if (s.scheme == Scheme::Custom)
        for (LayerOverride& layer : s.layers) layer.attn.in = layer.ffn.in = true;
    s.layers[0].attn.a = one_of(-1.5, 1.0);
    s.layers[1].ffn.b = one_of(-0.5, 1.0);
    if (one_of(0, 1, 2) == 0) s.layers[1].attn.out = true;
    s.head_width = one_of(0, 0, 4, 10);
    if (s.activation == Activation::SwiGlu) s.activation = one_of(Activation::SwiGlu, Activation::GeGlu);
    complete(s, 9);
    return s;
}

/// Gains, biases, scales and gates away from where they start; `biases` false: no bias and no β.
template <class T>
Transformer<T> model_of(const StackSpec& spec, unsigned seed, bool biases) {
    Transformer<T> model(spec, seed);
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, 0.8);
    for (const TensorInfo& t : model.table().tensors())
        for (std::size_t i = t.offset; i < t.offset + t.count; ++i) {
            const bool bias = t.name.ends_with(".bias") || t.name.find(".b") != std::string::npos;
            T& value = model.parameters()[i];
            if (t.shape.size() >= 2)
                value *= static_cast<T>(3);
            else if (bias && t.shape.size() == 1 && t.layer >= 0 &&
                     t.name.find("weight") == std::string::npos)
                value = biases ? static_cast<T>(normal(generator)) : T(0);
            else
                value += static_cast<T>(normal(generator));
        }
    return model;
}

const std::vector<double>& values(const ProbeResult& result, const char* name) {
    return result.find(name)->data;
}

}  // namespace

class PreNormBoundsTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};
    int products_ = 0;

    template <class T>
    void check(const Transformer<T>& model, double slack, const QString& what) {
        const Batch batch = batch_of(3);
        ProbeInput<T> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        const auto& rms = values(growth, "rms");
        for (std::size_t k = 0; k < rms.size(); ++k) {
            const double sharp = values(growth, "bound_ma")[k], loose = values(growth, "bound_product_ma")[k];
            const QString where = QString("%1, state %2: %3 above %4").arg(what).arg(k).arg(rms[k]);
            QVERIFY2(std::isfinite(sharp), qPrintable(where.arg(sharp)));
            QVERIFY2(rms[k] <= sharp * (1 + slack), qPrintable(where.arg(sharp)));
            QVERIFY(values(growth, "var")[k] <= values(growth, "bound_var")[k] * (1 + 2 * slack));
            if (std::isnan(loose)) continue;
            ++products_;
            QVERIFY2(rms[k] <= loose * (1 + slack), qPrintable(where.arg(loose)));
        }
    }

    template <class T>
    void check_drawn(double slack, int trials) {
        std::mt19937 generator(17);
        products_ = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const StackSpec s = drawn_stack(generator);
            check(model_of<T>(s, static_cast<unsigned>(trial), trial % 2 == 0), slack,
                  QString("stack %1").arg(trial));
        }
        QVERIFY(products_ > trials / 2);
    }

    /// A single token, one layer, every branch but one silenced by its scale; weights that take the token as
    /// it comes.
    static Transformer<double> aligned(bool attention, StackSpec s) {
        s.depth = 1;
        s.d_model = 8;
        s.heads = attention ? 2 : 1;
        s.kv_heads = 0;
        s.context = 1;
        s.scheme = Scheme::Pre;
        s.norm.kind = NormKind::RmsNorm;
        s.norm.eps = 1e-300;
        s.position = Position::None;
        s.branch_scale = BranchScale::Scalar;
        s.d_ff = 8;
        complete(s, 2);
        Transformer<double> model(s, 1);
        const auto set = [&](const std::string& name, auto value_of) {
            const TensorInfo* t = model.table().find(name);
            for (std::size_t i = 0; i < t->count; ++i) model.parameters()[t->offset + i] = value_of(i);
        };
        const auto identity = [](double size) {
            return [size](std::size_t i) { return i / 8 == i % 8 ? size : 0.0; };
        };
        set("tok_emb", [](std::size_t) { return 1.0; });  // all entries equal: 1·1ᵀ maps it to itself
        set("blocks.0.attn.scale", [&](std::size_t) { return attention ? 1.0 : 0.0; });
        set("blocks.0.ffn.scale", [&](std::size_t) { return attention ? 0.0 : 1.0; });
        set("blocks.0.attn.wo", identity(0.5));
        set("blocks.0.attn.wv", identity(3));
        set("blocks.0.ffn.w1", identity(2));
        set("blocks.0.ffn.w2", identity(1.5));
        return model;
    }

  private Q_SLOTS:
    void boundsHold64() { check_drawn<double>(1e-12, 400); }
    void boundsHold32() { check_drawn<float>(1e-5, 200); }

    /// Weights, gains and biases that gradient descent made, at a rate that is far too large.
    void boundsHoldAfterTraining() {
        for (Block block : {Block::Gpt2, Block::Llama})
            for (Scheme scheme : {Scheme::Pre, Scheme::Lns}) {
                StackSpec s;
                apply_block_preset(s, block);
                s.depth = 3;
                s.d_model = 16;
                s.heads = 2;
                s.context = kTokens;
                s.scheme = scheme;
                complete(s, 9);
                Transformer<double> model(s, 3);
                const Batch batch = batch_of(3);
                Gradients<double> gradients;
                StepScratch<double> scratch;
                double first = 0;
                for (int step = 0; step < 60; ++step) {
                    if (step % 20 == 0) check(model, 1e-12, QString("step %1").arg(step));
                    model.clear(gradients, batch.sequences);
                    model.accumulate(batch, 1, gradients, scratch, pool_);
                    model.reduce(gradients, pool_);
                    if (step == 0) first = scratch.mean_loss();
                    for (std::size_t i = 0; i < model.parameters().size(); ++i)
                        model.parameters()[i] -= 0.3 * gradients.total().data()[i];
                }
                QVERIFY(scratch.mean_loss() < 0.5 * first);  // it did train
                check(model, 1e-12, QString("trained"));
            }
    }

    /// Numbers by hand: two heads of one direction each add up to ‖x‖; the feed-forward map under ReLU keeps
    /// a positive token. The second attains its bound but for the order of the norm (8^{1/32} = 1.067 a
    /// matrix of equal singular values), the first but for that and for the sum over heads.
    void nearlyAttained() {
        Batch token{1, 1, {0}, {0}};
        for (bool attention : {true, false}) {
            StackSpec s;
            s.bias = false;
            s.activation = Activation::Relu;
            const auto model = aligned(attention, s);
            ProbeInput<double> input(model, token, pool_, 0);
            const ProbeResult growth = probe_growth(input);
            const std::size_t k = attention ? 1 : 2;
            const double rms = values(growth, "rms")[k], bound = values(growth, "bound_ma")[k],
                         product = values(growth, "bound_product_ma")[k];
            QVERIFY(std::abs(rms - (attention ? 2.5 : 4)) < 1e-12);
            const double heads = attention ? 2 * std::pow(4, 1.0 / 32) * 1.5 : std::pow(8, 2.0 / 32) * 3;
            QVERIFY2(std::abs(bound - (1 + heads)) < 1e-12, qPrintable(QString::number(bound - 1 - heads)));
            // One token of one sequence: the product form is the same number.
            QVERIFY(std::abs(product - bound) < 1e-12);
        }
    }

    /// Each term of B is needed: without it a token of the branch exceeds B. Biases and β alone.
    void everyBiasCounts() {
        for (const char* name : {"blocks.0.attn.norm_in.bias", "blocks.0.attn.bv", "blocks.0.attn.bo",
                                 "blocks.0.ffn.norm_in.bias", "blocks.0.ffn.b1", "blocks.0.ffn.b2"}) {
            const bool attention = std::string(name).find("attn") != std::string::npos;
            StackSpec s;
            s.bias = true;
            s.activation = Activation::Relu;
            auto model = aligned(attention, s);
            // RMSNorm has no β in some stacks: the ones that have it alone.
            const TensorInfo* t = model.table().find(name);
            if (!t) continue;
            const std::size_t k = attention ? 0 : 1;
            const double before = branch_bound(model, k, 1.0).token;
            QVERIFY(branch_bound(model, k, 1.0).unbiased);
            for (std::size_t i = 0; i < t->count; ++i) model.parameters()[t->offset + i] = 100;
            const BranchBound after = branch_bound(model, k, 1.0);
            QVERIFY(!after.unbiased);
            Batch token{1, 1, {0}, {0}};
            ProbeInput<double> input(model, token, pool_, 0);
            double square = 0;
            for (int i = 0; i < 8; ++i)
                square += std::pow(input.tape().hidden[k + 1][i] - input.tape().hidden[k][i], 2);
            QVERIFY2(std::sqrt(square) > before && std::sqrt(square) <= after.token * (1 + 1e-12), name);
            const ProbeResult growth = probe_growth(input);
            QVERIFY(std::isnan(values(growth, "bound_product_ma")[k + 1]) &&
                    std::isfinite(values(growth, "bound_ma")[k + 1]));
        }
    }

    /// A key bias shifts every score of a row alike, and a query bias keeps the rows stochastic: no bound
    /// moves.
    void keysAndQueriesDoNotEnter() {
        StackSpec s;
        s.bias = true;
        auto model = aligned(true, s);
        const BranchBound before = branch_bound(model, 0, 1.0);
        for (const char* name :
             {"blocks.0.attn.bq", "blocks.0.attn.bk", "blocks.0.attn.wq", "blocks.0.attn.wk"}) {
            const TensorInfo* t = model.table().find(name);
            for (std::size_t i = 0; i < t->count; ++i) model.parameters()[t->offset + i] = 7;
        }
        const BranchBound after = branch_bound(model, 0, 1.0);
        QVERIFY(after.unbiased && after.token == before.token);
    }

    /// The order of the two forms, and where each ends.
    void productIsTheLooserForm() {
        StackSpec s;
        s.depth = 4;
        s.d_model = 16;
        s.heads = 2;
        s.context = kTokens;
        s.bias = false;
        complete(s, 9);
        const Transformer<double> model(s, 3);
        const Batch batch = batch_of(3);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        const auto &sharp = values(growth, "bound_ma"), &loose = values(growth, "bound_product_ma");
        for (std::size_t k = 1; k < sharp.size(); ++k) QVERIFY(loose[k] > sharp[k]);
        for (double v : values(growth, "bound_uniform_ma")) QVERIFY(std::isnan(v));

        s.layers = {{2, {}, {}}};
        s.layers[0].attn.out = true;  // no factor of the product form; the sharp form continues
        const Transformer<double> mixed(s, 3);
        ProbeInput<double> other(mixed, batch, pool_, 0);
        const ProbeResult found = probe_growth(other);
        for (std::size_t k = 0; k < sharp.size(); ++k) {
            QCOMPARE(std::isfinite(values(found, "bound_product_ma")[k]), k <= 4);
            QVERIFY(std::isfinite(values(found, "bound_ma")[k]));
        }
        s.layers[0].attn.out = {};
        s.layers[0].ffn.in = false;  // a branch without any norm has no bound
        const Transformer<double> bare(s, 3);
        ProbeInput<double> third(bare, batch, pool_, 0);
        const ProbeResult ended = probe_growth(third);
        for (std::size_t k = 0; k < sharp.size(); ++k)
            QCOMPARE(std::isfinite(values(ended, "bound_ma")[k]), k <= 5);
    }

    /// Weights that are not finite end the bound where they are.
    void nothingFiniteIsNan() {
        StackSpec s;
        s.depth = 2;
        s.d_model = 16;
        s.heads = 2;
        s.context = kTokens;
        complete(s, 9);
        Transformer<float> model(s, 3);
        model.parameters()[model.table().feed_forward[0].w2 + 3] = NAN;
        const Batch batch = batch_of(1);
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        QVERIFY(std::isfinite(values(growth, "bound_ma")[1]) && std::isnan(values(growth, "bound_ma")[2]));
    }
};

NORMSCOPE_TEST(PreNormBoundsTest)
#include "pre_norm_bounds_test.moc"
