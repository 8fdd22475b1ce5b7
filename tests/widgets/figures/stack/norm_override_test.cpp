// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/stack/norm_override.h"

#include "tests/support/test_main.h"
#include "widgets/figures/stack/sublayer_formula.h"

#include <QTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;

class NormOverrideTest : public QObject {
    Q_OBJECT

    static StackSpec stack(Scheme scheme) {
        StackSpec spec;
        spec.depth = 4;
        spec.scheme = scheme;
        return spec;
    }

  private Q_SLOTS:
    void oneLayerAndBack() {
        const StackSpec spec = stack(Scheme::Pre);
        const StackSpec changed = withNorm(spec, 2, Sublayer::FeedForward, NormPlace::Post, true, false);
        QCOMPARE(changed.layers.size(), std::size_t(1));
        QCOMPARE(changed.layers[0].index, 2);
        QVERIFY(changed.layers[0].ffn.post == true);
        QVERIFY(changed.layers[0].attn.empty());
        QVERIFY(sublayer_rule(changed, 2, Sublayer::FeedForward).post);
        QVERIFY(!sublayer_rule(changed, 1, Sublayer::FeedForward).post);
        const StackSpec back = withNorm(changed, 2, Sublayer::FeedForward, NormPlace::Post, false, false);
        QVERIFY(back.layers.empty());
    }

    void allLayers() {
        const StackSpec changed =
            withNorm(stack(Scheme::Pre), 1, Sublayer::Attention, NormPlace::In, false, true);
        QCOMPARE(changed.layers.size(), std::size_t(4));
        for (int layer = 0; layer < 4; ++layer) {
            QVERIFY(!sublayer_rule(changed, layer, Sublayer::Attention).in);
            QVERIFY(sublayer_rule(changed, layer, Sublayer::FeedForward).in);
        }
        QVERIFY(withNorm(changed, 1, Sublayer::Attention, NormPlace::In, true, true).layers.empty());
    }

    void otherOverridesStay() {
        StackSpec spec = stack(Scheme::Pre);
        LayerOverride manual;
        manual.index = 1;
        manual.attn.a = 2;
        manual.attn.out = true;
        spec.layers.push_back(manual);
        const StackSpec changed = withNorm(spec, 1, Sublayer::Attention, NormPlace::Out, false, false);
        QCOMPARE(changed.layers.size(), std::size_t(1));
        QVERIFY(!changed.layers[0].attn.out);
        QVERIFY(changed.layers[0].attn.a == 2.0);
    }

    void layersStayInOrder() {
        StackSpec spec = withNorm(stack(Scheme::None), 3, Sublayer::Attention, NormPlace::In, true, false);
        spec = withNorm(spec, 0, Sublayer::Attention, NormPlace::In, true, false);
        spec = withNorm(spec, 2, Sublayer::Attention, NormPlace::In, true, false);
        QCOMPARE(spec.layers.size(), std::size_t(3));
        QCOMPARE(spec.layers[0].index, 0);
        QCOMPARE(spec.layers[1].index, 2);
        QCOMPARE(spec.layers[2].index, 3);
    }

    void mixComparesWithItsOwnLayer() {
        // Mix-LN with 4 layers and 1/4: layer 0 is Post-LN, the others Pre-LN.
        const StackSpec spec = stack(Scheme::Mix);
        QVERIFY(schemeRule(spec, 0, Sublayer::Attention).post);
        QVERIFY(schemeRule(spec, 1, Sublayer::Attention).in);
        const StackSpec changed = withNorm(spec, 2, Sublayer::Attention, NormPlace::In, true, true);
        QCOMPARE(changed.layers.size(), std::size_t(1));  // the others have it
        QCOMPARE(changed.layers[0].index, 0);
    }

    void factorsAndTheWayBack() {
        StackSpec spec =
            withNorm(stack(Scheme::DeepNorm), 2, Sublayer::Attention, NormPlace::In, true, false);
        spec = withFactors(spec, 2, Sublayer::Attention, std::nullopt, 0.5);
        spec = withFactors(spec, 0, Sublayer::FeedForward, 2.0, -1.0);
        QCOMPARE(sublayer_rule(spec, 0, Sublayer::FeedForward).a, 2.0);
        QCOMPARE(sublayer_rule(spec, 0, Sublayer::FeedForward).b, -1.0);
        QCOMPARE(sublayer_rule(spec, 2, Sublayer::Attention).a, std::pow(8.0, 0.25));  // the scheme's
        QCOMPARE(sublayer_rule(spec, 2, Sublayer::Attention).b, 0.5);
        QVERIFY(overrideOf(spec, 2, Sublayer::Attention).in == true);
        QVERIFY(overrideOf(spec, 1, Sublayer::Attention).empty());
        const StackSpec one = withoutOverrides(spec, 2);
        QCOMPARE(one.layers.size(), std::size_t(1));
        QCOMPARE(one.layers[0].index, 0);
        const StackSpec other = withoutOverrides(spec, 0);  // those after it stay
        QCOMPARE(other.layers.size(), std::size_t(1));
        QCOMPARE(other.layers[0].index, 2);
        QVERIFY(withoutOverrides(spec).layers.empty());
        QVERIFY(withFactors(one, 0, Sublayer::FeedForward, std::nullopt, std::nullopt).layers.empty());
    }

    void oneLayerForAll() {
        // Mix-LN: layer 0 is Post-LN; as layer 2, with a post norm on its attention, all become the same.
        StackSpec spec = withNorm(stack(Scheme::Mix), 2, Sublayer::Attention, NormPlace::Post, true, false);
        spec = withFactors(spec, 2, Sublayer::FeedForward, 3.0, std::nullopt);
        const StackSpec all = withLayerEverywhere(spec, 2);
        for (int layer = 0; layer < 4; ++layer) {
            const SublayerRule attn = sublayer_rule(all, layer, Sublayer::Attention);
            const SublayerRule ffn = sublayer_rule(all, layer, Sublayer::FeedForward);
            QVERIFY(attn.in && !attn.out && attn.post && attn.a == 1);
            QVERIFY(ffn.in && !ffn.out && !ffn.post && ffn.a == 3);
        }
        // The plain layer is applied: no override of the scheme remains.
        const StackSpec plain = withLayerEverywhere(
            withNorm(stack(Scheme::Pre), 2, Sublayer::Attention, NormPlace::Out, true, false), 1);
        QVERIFY(plain.layers.empty());
    }

    void aParallelLayerHasOneShortcutAndOnePostNorm() {
        StackSpec spec = stack(Scheme::Post);
        QVERIFY(hasPlace(spec, Sublayer::Attention, NormPlace::Post));
        QVERIFY(hasShortcut(spec, Sublayer::FeedForward));
        spec.layout = Layout::Parallel;
        QVERIFY(!hasPlace(spec, Sublayer::Attention, NormPlace::Post));
        QVERIFY(hasPlace(spec, Sublayer::FeedForward, NormPlace::Post));
        QVERIFY(hasPlace(spec, Sublayer::Attention, NormPlace::Out));
        QVERIFY(hasShortcut(spec, Sublayer::Attention));
        QVERIFY(!hasShortcut(spec, Sublayer::FeedForward));
    }

    void formulas() {
        StackSpec spec = stack(Scheme::Pre);
        spec.residual_step = 0.2;
        const auto first = [](const QString& text) { return text.section(u'\n', 0, 0); };
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::Attention)),
                 QStringLiteral("x' = x + Δt·attn(N_in(x))"));
        QVERIFY(sublayerFormula(spec, 0, Sublayer::Attention).contains(QStringLiteral("Δt = 0.2")));
        spec.scheme = Scheme::DeepNorm;
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::FeedForward)),
                 QStringLiteral("x' = N_post(a·x + Δt·ffn(x))"));
        QVERIFY(sublayerFormula(spec, 0, Sublayer::FeedForward).contains(QStringLiteral("a = 1.682")));
        spec.scheme = Scheme::Lns;
        QCOMPARE(first(sublayerFormula(spec, 3, Sublayer::FeedForward)),
                 QStringLiteral("x' = x + Δt·ffn(s·N_in(x))"));
        QVERIFY(sublayerFormula(spec, 3, Sublayer::FeedForward).contains(QStringLiteral("s = 0.5")));
        spec.scheme = Scheme::Peri;
        spec.gpas.enabled = true;
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::FeedForward)),
                 QStringLiteral("x' = P(x + Δt·N_out(ffn(N_in(x))))"));
        spec.scheme = Scheme::Post;
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::FeedForward)),
                 QStringLiteral("x' = N_post(P(x) + Δt·ffn(x))"));
        spec.gpas.site = GateSite::Input;
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::FeedForward)),
                 QStringLiteral("x' = N_post(P(x) + Δt·ffn(P(x)))"));
        spec.gpas.site = GateSite::Norm;
        spec.scheme = Scheme::Lns;
        QCOMPARE(first(sublayerFormula(spec, 3, Sublayer::FeedForward)),
                 QStringLiteral("x' = x + Δt·ffn(P(s·N_in(x)))"));
        spec.gpas.enabled = false;
        spec.scheme = Scheme::DeepNorm;
        spec.layout = Layout::Parallel;
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::Attention)),
                 QStringLiteral("h' = a·x + Δt·attn(x)"));
        QCOMPARE(first(sublayerFormula(spec, 0, Sublayer::FeedForward)),
                 QStringLiteral("x' = N_post(h' + Δt·ffn(x))"));
    }
};

NORMSCOPE_TEST(NormOverrideTest)
#include "norm_override_test.moc"
