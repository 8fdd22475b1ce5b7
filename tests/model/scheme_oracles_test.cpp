// SPDX-License-Identifier: GPL-3.0-or-later
// Schemes that must coincide do so bit for bit, and what GPAS must leave alone it leaves alone.
#include "core/backend/row/gate.h"
#include "core/model/gate_warnings.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

template <class T>
struct Outcome {
    std::vector<std::vector<T>> hidden;
    std::vector<T> losses, gradient;
};

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = 4;
    s.d_model = 12;
    s.heads = 3;
    s.context = 8;
    s.final_norm = FinalNorm::On;
    s.scheme = scheme;
    complete(s, 11);
    return s;
}

Batch batch_of() {
    Batch batch{3, 8, {}, {}};
    for (int i = 0; i < 24; ++i) {
        batch.tokens.push_back((7 * i + 3) % 11);
        batch.targets.push_back((5 * i + 1) % 11);
    }
    return batch;
}

template <class T>
Outcome<T> outcome_of(const Transformer<T>& model, BackwardRecord<T>* record = nullptr) {
    ThreadPool pool(1);
    Tape<T> tape;
    Gradients<T> gradients;
    model.forward(batch_of(), tape, pool);
    model.clear(gradients, 3);
    model.backward(batch_of(), tape, 1, gradients, pool, record);
    model.reduce(gradients, pool);
    Outcome<T> result;
    const auto count = static_cast<std::size_t>(tape.rows()) * static_cast<std::size_t>(model.spec().d_model);
    for (const T* state : tape.hidden) result.hidden.emplace_back(state, state + count);
    result.losses.assign(tape.losses, tape.losses + tape.rows());
    result.gradient = gradients.total().values();
    return result;
}

/// All states, losses and gradients the same bits; two stacks of the same tensors.
template <class T>
void same_bits(const StackSpec& a, const StackSpec& b) {
    const Outcome<T> first = outcome_of(Transformer<T>(a, 9)), second = outcome_of(Transformer<T>(b, 9));
    QVERIFY(first.hidden == second.hidden);
    QVERIFY(first.losses == second.losses);
    QVERIFY(first.gradient == second.gradient);
}
void same_bits(const StackSpec& a, const StackSpec& b) {
    same_bits<double>(a, b);
    same_bits<float>(a, b);
}

}  // namespace

class SchemeOraclesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void deepNormWithoutItsFactorIsPost() {
        StackSpec deep = stack_of(Scheme::DeepNorm);
        for (int l = 0; l < deep.depth; ++l) {
            LayerOverride layer;
            layer.index = l;
            layer.attn.a = layer.ffn.a = 1;
            deep.layers.push_back(layer);
        }
        same_bits(deep, stack_of(Scheme::Post));
    }

    /// LN_ε(a·z) = LN_(ε/a²)(z): DeepNorm is Post-LN with the branch divided by a, up to ε.
    void deepNormIsABranchFactorUpToEpsilon() {
        StackSpec deep = stack_of(Scheme::DeepNorm), post = stack_of(Scheme::Post);
        const double a = std::pow(8.0, 0.25);
        post.norm.eps = 0;
        deep.norm.eps = 0;
        post.residual_step = 1 / a;
        const auto x = outcome_of(Transformer<double>(deep, 9)), y = outcome_of(Transformer<double>(post, 9));
        QVERIFY(x.hidden.back() != y.hidden.back());
        for (std::size_t i = 0; i < x.hidden.back().size(); ++i)
            QVERIFY(std::abs(x.hidden.back()[i] - y.hidden.back()[i]) < 1e-12);
    }

    void mixAtItsEndsIsPreOrPost() {
        StackSpec mix = stack_of(Scheme::Mix);
        mix.mix_post_fraction = 0;
        same_bits(mix, stack_of(Scheme::Pre));
        mix.mix_post_fraction = 1;
        same_bits(mix, stack_of(Scheme::Post));
    }

    void bothFormsOfLnsStartAlike() {
        StackSpec factor = stack_of(Scheme::Lns);
        factor.bias = false;
        StackSpec gamma = factor;
        gamma.lns_form = LnsForm::Gamma;
        const auto a = outcome_of(Transformer<float>(factor, 9)),
                   b = outcome_of(Transformer<float>(gamma, 9));
        QVERIFY(a.hidden == b.hidden);
        QVERIFY(a.losses == b.losses);
        QVERIFY(a.gradient != b.gradient);  // ∂/∂γ of the one is 1/√ℓ of the other: another Adam trajectory
    }

    void periIsSandwich() { same_bits(stack_of(Scheme::Peri), stack_of(Scheme::Sandwich)); }

    void customStartsFromNone() { same_bits(stack_of(Scheme::Custom), stack_of(Scheme::None)); }

    void noStepIsTheIdentity_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("layout");
        for (Scheme scheme : {Scheme::Pre, Scheme::Peri, Scheme::Lns, Scheme::Output, Scheme::None})
            for (Layout layout : {Layout::Serial, Layout::Parallel})
                QTest::addRow("%s %s", word_of(scheme), word_of(layout))
                    << static_cast<int>(scheme) << static_cast<int>(layout);
    }
    void noStepIsTheIdentity() {
        QFETCH(int, scheme);
        QFETCH(int, layout);
        StackSpec s = stack_of(static_cast<Scheme>(scheme));
        s.layout = static_cast<Layout>(layout);
        s.residual_step = 0;
        for (const auto& state : outcome_of(Transformer<double>(s, 9)).hidden)
            QVERIFY(state == outcome_of(Transformer<double>(s, 9)).hidden.front());
    }

    /// A branch scale of 0 is no branch (ReZero), one of 1 is none.
    void branchScalesOfZeroAndOne() {
        for (BranchScale kind : {BranchScale::Scalar, BranchScale::Channel}) {
            StackSpec s = stack_of(Scheme::Pre);
            const auto plain = outcome_of(Transformer<float>(s, 9));
            s.branch_scale = kind;
            QVERIFY(outcome_of(Transformer<float>(s, 9)).hidden == plain.hidden);
            s.branch_scale_init = 0;
            const auto closed = outcome_of(Transformer<float>(s, 9));
            QVERIFY(closed.hidden.back() == closed.hidden.front());
        }
    }

    void aClosedGateChangesNothing_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("site");
        QTest::addColumn<int>("activation");
        int n = 0;
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (int site = 0; site <= static_cast<int>(GateSite::Branch); ++site, ++n)
                QTest::addRow("%s %s", word_of(static_cast<Scheme>(scheme)),
                              word_of(static_cast<GateSite>(site)))
                    << scheme << site << n % 6;
    }
    void aClosedGateChangesNothing() {
        QFETCH(int, scheme);
        QFETCH(int, site);
        QFETCH(int, activation);
        for (Layout layout : {Layout::Serial, Layout::Parallel}) {
            StackSpec s = stack_of(static_cast<Scheme>(scheme));
            s.layout = layout;
            const Transformer<float> plain(s, 9);
            s.gpas.enabled = true;
            s.gpas.site = static_cast<GateSite>(site);
            s.gpas.activation = static_cast<GateActivation>(activation);
            const Transformer<float> gated(s, 9);
            const auto a = outcome_of(plain), b = outcome_of(gated);
            QVERIFY(a.hidden == b.hidden);
            QVERIFY(a.losses == b.losses);
            for (const TensorInfo& t : plain.table().tensors()) {
                const auto ours = a.gradient.begin() + static_cast<std::ptrdiff_t>(t.offset);
                const auto theirs =
                    b.gradient.begin() + static_cast<std::ptrdiff_t>(gated.table().find(t.name)->offset);
                QVERIFY2(std::equal(ours, ours + static_cast<std::ptrdiff_t>(t.count), theirs),
                         t.name.c_str());
            }
        }
    }

    /// ∂loss/∂g at 0 is −½·Σ g·x over both sub-layers, since SiLU'(0) = ½.
    void theGateGradientAtZero() {
        StackSpec s = stack_of(Scheme::Pre);
        s.gpas.enabled = true;
        const Transformer<double> model(s, 9);
        BackwardRecord<double> record;
        const auto run = outcome_of(model, &record);
        for (int layer = 0; layer < s.depth; ++layer) {
            double sum = 0, size = 0;
            for (int state : {2 * layer + 1, 2 * layer + 2})
                for (std::size_t i = 0; i < record.hidden.front().size(); ++i) {
                    const double product = record.hidden[static_cast<std::size_t>(state)].data()[i] *
                                           run.hidden[static_cast<std::size_t>(state)][i];
                    sum += product;
                    size += std::abs(product);
                }
            const double gradient =
                run.gradient[model.table().attention[static_cast<std::size_t>(layer)].gate];
            QVERIFY2(std::abs(gradient + 0.5 * sum) < 1e-14 * size,
                     qPrintable(QString("%1 and %2").arg(gradient).arg(-0.5 * sum)));
            QVERIFY(std::abs(gradient) > 1e-6 * size);
        }
    }

    /// Back-propagation through P_g is the identity, for any gate; its forward derivative is 1 − act(g).
    void backwardThroughAGateIsTheIdentity() {
        for (GateSite site : {GateSite::Output, GateSite::Shortcut, GateSite::Input})
            for (double g : {-2.0, 0.3, 1.2784645, 4.0}) {
                StackSpec s = stack_of(Scheme::None);
                s.residual_step = 0;
                s.gpas.enabled = true;
                s.gpas.site = site;
                Transformer<double> model(s, 9);
                for (const auto& layer : model.table().attention) model.parameters()[layer.gate] = g;
                ThreadPool pool(1);
                Tape<double> tape;
                model.forward(batch_of(), tape, pool);
                std::vector<double> back(tape.rows() * 12, 0.7), forth = back;
                model.pull_back(tape, 0, 8, Jacobian::Backprop, back.data());
                for (double v : back) QCOMPARE(v, 0.7);
                model.pull_back(tape, 0, 2, Jacobian::Forward, forth.data());
                const double factor = 1 - gate_activation(GateActivation::Silu, g);
                for (double v : forth) QVERIFY(std::abs(v - 0.7 * factor * factor) < 1e-14);
            }
    }

    /// act(g) and its slope; SiLU reaches 1 at 1.2785, where it turns back least far below 0 at −1.2785.
    void gateActivations() {
        for (GateActivation kind : {GateActivation::Silu, GateActivation::Identity, GateActivation::Relu,
                                    GateActivation::LeakyRelu, GateActivation::Tanh, GateActivation::Silu8}) {
            QCOMPARE(gate_activation(kind, 0), 0.0);
            for (double g : {-3.0, -0.4, 0.2, 1.7}) {
                const double slope =
                    (gate_activation(kind, g + 1e-5) - gate_activation(kind, g - 1e-5)) / 2e-5;
                QVERIFY(std::abs(slope - gate_derivative(kind, g)) < 1e-9);
            }
        }
        QCOMPARE(gate_derivative(GateActivation::Silu, 0), 0.5);
        QVERIFY(std::abs(gate_activation(GateActivation::Silu, -1.2784645427610738) + 0.27846454276107380) <
                1e-15);
        QVERIFY(std::abs(gate_activation(GateActivation::Silu, 1.2784645427610738) - 1) < 1e-15);
        QVERIFY(std::abs(gate_activation(GateActivation::Silu8, 0.5) - 0.5 / (1 + std::exp(-4))) < 1e-16);
        QVERIFY(std::abs(gate_activation(GateActivation::LeakyRelu, -2) + 0.02) < 1e-16);
    }

    void gatesThatEraseOrTurnAreNamed() {
        StackSpec s = stack_of(Scheme::Pre);
        QVERIFY(gate_warnings(Transformer<float>(s, 1)).empty());
        s.gpas.enabled = true;
        Transformer<float> model(s, 1);
        QVERIFY(gate_warnings(model).empty());
        model.parameters()[model.table().attention[1].gate] = 1.3f;
        model.parameters()[model.table().attention[3].gate] = 1.2f;
        const auto lines = gate_warnings(model);
        QCOMPARE(lines.size(), std::size_t(1));
        QVERIFY2(lines[0].starts_with("layer 2: the gate is 1.3, its forward scale 1 − act(g) is -0.02"),
                 lines[0].c_str());
    }
};

NORMSCOPE_TEST(SchemeOraclesTest)
#include "scheme_oracles_test.moc"
