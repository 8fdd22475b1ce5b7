// SPDX-License-Identifier: GPL-3.0-or-later
// What the probes say of branch scales, parallel layers and gates on the branch.
#include "core/probe/gradients.h"
#include "core/probe/growth.h"
#include "core/probe/jacobian.h"
#include "core/probe/null_space.h"
#include "core/theory/norm_jacobian.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kWidth = 8;

StackSpec stack_of(Scheme scheme, Layout layout, BranchScale scale) {
    StackSpec s;
    s.depth = 3;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.layout = layout;
    s.branch_scale = scale;
    s.residual_step = 0.6;
    complete(s, 9);
    return s;
}

/// Gains, biases, scales and gates away from where they start.
Transformer<double> model_of(const StackSpec& spec) {
    Transformer<double> model(spec, 3);
    std::mt19937 generator(4);
    std::normal_distribution<double> normal(0, 0.4);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += normal(generator);
    return model;
}

Batch batch_of() {
    Batch batch{2, kTokens, {}, {}};
    for (int i = 0; i < 2 * kTokens; ++i) {
        batch.tokens.push_back((7 * i + 3) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    for (const auto& array : result.arrays)
        if (array.name == name) return array.data;
    throw std::runtime_error(name);
}

void add_stacks() {
    QTest::addColumn<int>("scheme");
    QTest::addColumn<int>("layout");
    QTest::addColumn<int>("scale");
    for (Scheme scheme : {Scheme::Peri, Scheme::Output, Scheme::Post})
        for (int layout : {0, 1})
            for (int scale : {0, 1, 2})
                QTest::addRow("%s %s %s", word_of(scheme), word_of(static_cast<Layout>(layout)),
                              word_of(static_cast<BranchScale>(scale)))
                    << static_cast<int>(scheme) << layout << scale;
}

}  // namespace

class SchemeProbesTest : public QObject {
    Q_OBJECT

    static StackSpec fetch_stack() {
        QFETCH(int, scheme);
        QFETCH(int, layout);
        QFETCH(int, scale);
        return stack_of(static_cast<Scheme>(scheme), static_cast<Layout>(layout),
                        static_cast<BranchScale>(scale));
    }

    ThreadPool pool_{1};

  private Q_SLOTS:
    /// The bound is hard for any weights.
    void growthBoundsHold_data() { add_stacks(); }
    void growthBoundsHold() {
        const auto model = model_of(fetch_stack());
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult growth = probe_growth(input);
        const bool bounded = model.spec().scheme != Scheme::Post;
        for (const auto& [measured, bound] : {std::pair("ma", "bound_ma"), std::pair("var", "bound_var")})
            for (std::size_t k = 0; k < 7; ++k) {
                QCOMPARE(std::isfinite(values(growth, bound)[k]), bounded);
                if (bounded) QVERIFY(values(growth, measured)[k] <= values(growth, bound)[k] * (1 + 1e-12));
            }
    }

    /// Memory that another model and a larger batch have left numbers in changes no result.
    void keptMemoryChangesNothing() {
        ProbeMemory<double> kept;
        StackSpec larger = stack_of(Scheme::Peri, Layout::Serial, BranchScale::None);
        larger.depth += 1;
        complete(larger, 9);
        const auto first = model_of(larger);
        const Batch batch = batch_of();
        ProbeInput<double> before(first, batch, pool_, 0, nullptr, 1, &kept);
        probe_gradients(before);
        const auto model = model_of(stack_of(Scheme::DeepNorm, Layout::Serial, BranchScale::None));
        for (int sample = 0; sample < 2; ++sample) {
            ProbeInput<double> reused(model, batch, pool_, 0, nullptr, 1, &kept),
                fresh(model, batch, pool_, 0);
            for (const auto probe :
                 {probe_growth<double>, probe_gradients<double>, probe_null_space<double>}) {
                const ProbeResult a = probe(reused), b = probe(fresh);
                QCOMPARE(a.arrays.size(), b.arrays.size());
                for (std::size_t i = 0; i < a.arrays.size(); ++i)
                    QVERIFY2(std::memcmp(a.arrays[i].data.data(), b.arrays[i].data.data(),
                                         b.arrays[i].data.size() * sizeof(double)) == 0,
                             a.arrays[i].name.c_str());
            }
        }
    }

    /// A scale of 0 leaves only the shortcut: the bound is then that of the first hidden state throughout.
    void growthBoundsKnowTheScale() {
        for (BranchScale kind : {BranchScale::Scalar, BranchScale::Channel}) {
            StackSpec s = stack_of(Scheme::Peri, Layout::Serial, kind);
            s.branch_scale_init = 0;
            const Transformer<double> model(s, 3);
            const Batch batch = batch_of();
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult growth = probe_growth(input);
            for (double bound : values(growth, "bound_ma")) QCOMPARE(bound, values(growth, "rms")[0]);
        }
    }

    /// The share that a post norm erases is of all that joined the stream: z − a·r, from the hidden states
    /// alone.
    void erasedForwardIsOfWhatJoined() {
        for (Layout layout : {Layout::Serial, Layout::Parallel})
            for (BranchScale scale : {BranchScale::None, BranchScale::Scalar, BranchScale::Channel})
                for (bool gated : {false, true}) {
                    StackSpec s = stack_of(Scheme::DeepNorm, layout, scale);
                    s.gpas.enabled = gated;
                    s.gpas.site = GateSite::Branch;
                    s.layers.resize(1);
                    s.layers[0].ffn.out = true;
                    const auto model = model_of(s);
                    const Batch batch = batch_of();
                    ProbeInput<double> input(model, batch, pool_, 0);
                    const auto erased = values(probe_null_space(input), "erased_forward");
                    const Tape<double>& tape = input.tape();
                    const auto& sites = model.sites();
                    for (std::size_t i = 0; i < sites.size(); ++i) {
                        if (sites[i].place != NormSite::Place::Post) continue;
                        const auto k = static_cast<std::size_t>(sites[i].sublayer);
                        const std::size_t from = layout == Layout::Parallel ? k - k % 2 : k;
                        ErasedEnergy lost;
                        for (std::size_t r = 0; r < 2 * kTokens; ++r) {
                            std::vector<double> z(kWidth), joined(kWidth);
                            for (std::size_t c = 0; c < kWidth; ++c) {
                                z[c] = tape.sublayers[k].z[r * kWidth + c];
                                joined[c] = z[c] - model.rules()[k].a * tape.hidden[from][r * kWidth + c];
                            }
                            lost += NormJacobian::layer_norm(z, {}, s.norm.eps).erased_forward(joined);
                        }
                        QVERIFY2(std::abs(erased[i] - lost.share()) < 1e-12, sites[i].name.c_str());
                    }
                }
    }

    /// ρ_LN is of what a norm reads, in Pre-LN the hidden states, not of what it gives.
    void rhoIsOfTheNormsInput() {
        for (NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (int sequences : {1, 2}) {  // an odd and an even number of tokens
                StackSpec s = stack_of(Scheme::Pre, Layout::Serial, BranchScale::None);
                s.norm.kind = kind;
                auto model = model_of(s);
                Batch batch = batch_of();
                batch.sequences = sequences;
                ProbeInput<double> input(model, batch, pool_, 0);
                const ProbeResult found = probe_null_space(input);
                const Tape<double>& tape = input.tape();
                for (std::size_t site = 0; site < tape.hidden.size(); ++site) {
                    std::vector<double> variances;
                    for (int r = 0; r < sequences * kTokens; ++r) {
                        const double* x = tape.hidden[site] + r * kWidth;
                        double mean = 0, square = 0;
                        for (int c = 0; c < kWidth; ++c) mean += x[c] / kWidth;
                        if (kind == NormKind::RmsNorm) mean = 0;
                        for (int c = 0; c < kWidth; ++c) square += (x[c] - mean) * (x[c] - mean) / kWidth;
                        variances.push_back(square);
                    }
                    std::sort(variances.begin(), variances.end());
                    const std::size_t count = variances.size();
                    const double middle = (variances[(count - 1) / 2] + variances[count / 2]) / 2;
                    const double rho = middle / model.numerics.eps * kWidth / 2048;
                    QVERIFY(std::abs(values(found, "fp16_rho_ln")[site] / rho - 1) < 1e-12);
                    QCOMPARE(values(found, "bf16_rho_ln")[site], 8 * values(found, "fp16_rho_ln")[site]);
                }
                model.numerics.eps = 0;  // a hot knob
                ProbeInput<double> bare(model, batch, pool_, 0);
                const ProbeResult undefined = probe_null_space(bare);
                for (const double rho : values(undefined, "fp16_rho_ln")) QVERIFY(std::isnan(rho));
            }
    }

    /// The layers' singular values are those of the whole layer's Jacobian, parallel or not, causal or not.
    void layerSpectraAreOfTheLayer() {
        for (Layout layout : {Layout::Serial, Layout::Parallel})
            for (bool causal : {true, false}) {
                StackSpec s = stack_of(Scheme::Pre, layout, BranchScale::Channel);
                s.causal = causal;
                const auto model = model_of(s);
                const Batch batch = batch_of();
                ProbeInput<double> input(model, batch, pool_, 0);
                const ProbeResult jacobian = probe_jacobian(input);
                const auto check = [&](int begin, int end, const double* singular) {
                    std::vector<double> moved(kWidth * kTokens * kWidth, 0.0);
                    const std::size_t last = (kTokens - 1) * kWidth;
                    for (std::size_t i = 0; i < kWidth; ++i) moved[i * kTokens * kWidth + last + i] = 1;
                    model.tangent(input.tape(), 0, begin, end, 0, kWidth, Jacobian::Backprop, moved.data());
                    double squares = 0, frobenius = 0;
                    for (std::size_t i = 0; i < kWidth; ++i) {
                        squares += singular[i] * singular[i];
                        for (std::size_t o = 0; o < kWidth; ++o)
                            frobenius += std::pow(moved[i * kTokens * kWidth + last + o], 2);
                    }
                    QVERIFY2(std::abs(squares - frobenius) < 1e-12 * frobenius,
                             qPrintable(QString("%1 and %2").arg(squares).arg(frobenius)));
                };
                for (int l = 0; l < 3; ++l)
                    check(2 * l, 2 * l + 2, values(jacobian, "layer_sv").data() + l * kWidth);
                check(0, 6, values(jacobian, "end_to_end_sv").data());
            }
    }
};

NORMSCOPE_TEST(SchemeProbesTest)
#include "scheme_probes_test.moc"
