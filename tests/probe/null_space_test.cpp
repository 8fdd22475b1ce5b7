// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/null_space.h"

#include "core/theory/norm_jacobian.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kWidth = 8;

StackSpec stack_of(NormKind kind) {
    StackSpec s;
    s.depth = 2;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = Scheme::Post;
    s.norm = {kind, 0.05};
    complete(s, 9);
    return s;
}

template <class T>
Transformer<T> model_of(const StackSpec& spec) {
    Transformer<T> model(spec, 3);
    std::mt19937 generator(4);
    std::normal_distribution<double> normal(0, 0.4);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of(int sequences) {
    Batch batch{sequences, kTokens, {}, {}};
    for (int i = 0; i < sequences * kTokens; ++i) {
        batch.tokens.push_back((7 * i + i / 4) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const char* name) {
    return result.find(name)->data;
}

}  // namespace

class NullSpaceTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};

  private Q_SLOTS:
    /// Every value token by token from NormJacobian, omitting each sequence once for the errors.
    void equalsTheJacobianTokenByToken() {
        constexpr int kSequences = 3;
        for (NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm}) {
            const auto model = model_of<double>(stack_of(kind));
            const Batch batch = batch_of(kSequences);
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult found = probe_null_space(input);
            for (std::size_t i = 0; i < model.sites().size(); ++i) {
                const NormSite& site = model.sites()[i];
                const double* x = norm_site_input(site, input.tape()).x;
                const double* g = input.backward().norm_output[i].data();
                const auto gamma = model.parameters().subspan(site.offsets.weight, kWidth);
                const auto without = [&](int omitted) {
                    double gain = 0, epsilon = 0, tokens = 0;
                    ErasedEnergy lost;
                    for (int r = 0; r < kSequences * kTokens; ++r) {
                        if (r / kTokens == omitted) continue;
                        const std::span<const double> token(x + r * kWidth, kWidth);
                        const auto jacobian = kind == NormKind::LayerNorm
                                                  ? NormJacobian::layer_norm(token, gamma, 0.05)
                                                  : NormJacobian::rms_norm(token, gamma, 0.05);
                        gain += jacobian.gain();
                        epsilon += jacobian.epsilon_effect();
                        tokens += 1;
                        lost += jacobian.erased_backward({g + r * kWidth, kWidth});
                    }
                    return std::array{gain / tokens, epsilon / tokens, lost.share()};
                };
                const char* names[] = {"gain", "epsilon_share", "erased_backward"};
                for (std::size_t n = 0; n < 3; ++n) {
                    const double value = without(-1)[n];
                    double mean = 0, squares = 0;
                    for (int b = 0; b < kSequences; ++b) mean += without(b)[n] / kSequences;
                    for (int b = 0; b < kSequences; ++b) squares += std::pow(without(b)[n] - mean, 2);
                    QVERIFY2(std::abs(values(found, names[n])[i] - value) < 1e-12 * (1 + value), names[n]);
                    const std::string error = std::string(names[n]) + "_error";
                    QVERIFY2(std::abs(values(found, error.c_str())[i] - std::sqrt(2.0 / 3 * squares)) <
                                 1e-12 * (1 + value),
                             error.c_str());
                }
                QCOMPARE(std::isfinite(values(found, "erased_forward_error")[i]),
                         site.place == NormSite::Place::Post);
            }
        }
    }

    /// ρ_LN = 1 does not mean that ε rules: at d = 64 in FP16 it means σ² = 32 ε, a share of 3 %.
    void rhoOfOneIsASmallShare() {
        StackSpec s = stack_of(NormKind::LayerNorm);
        s.d_model = 64;
        s.d_ff = 64;
        s.scheme = Scheme::Pre;
        s.position = Position::None;
        auto model = model_of<double>(s);
        // Every token the same: ±a in turn, of variance a².
        const double eps = model.numerics.eps, a = std::sqrt(32 * eps);
        for (std::size_t i = 0; i < 9 * 64; ++i)
            model.parameters()[model.table().tok_emb + i] = i % 2 == 0 ? a : -a;
        const Batch batch = batch_of(2);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_null_space(input);
        QVERIFY(std::abs(values(found, "fp16_rho_ln")[0] - 1) < 1e-12);
        QVERIFY(std::abs(values(found, "epsilon_share")[0] - 1.0 / 33) < 1e-12);
        model.numerics.eps = 0;
        ProbeInput<double> bare(model, batch, pool_, 0);
        const ProbeResult without = probe_null_space(bare);
        QCOMPARE(values(without, "epsilon_share")[0], 0.0);
    }

    void whatIsNotFiniteIsNan() {
        auto model = model_of<float>(stack_of(NormKind::LayerNorm));
        model.parameters()[model.table().attention[1].wo] = INFINITY;
        const Batch batch = batch_of(2);
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult found = probe_null_space(input);
        for (const NamedArray& array : found.arrays) {
            QCOMPARE(array.data.size(), model.sites().size());
            for (double v : array.data) QVERIFY2(!std::isinf(v), array.name.c_str());
            if (array.name == "gain" || array.name == "epsilon_share") QVERIFY(std::isfinite(array.data[1]));
            QVERIFY2(std::isnan(array.data[2]), array.name.c_str());
        }
    }
};

NORMSCOPE_TEST(NullSpaceTest)
#include "null_space_test.moc"
