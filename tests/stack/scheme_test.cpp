// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/scheme.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

StackSpec stack_of(Scheme scheme, int depth = 8) {
    StackSpec spec;
    spec.scheme = scheme;
    spec.depth = depth;
    return spec;
}

std::string namesOfNorms(const SublayerRule& rule) {
    return std::string(rule.in ? "in " : "") + (rule.out ? "out " : "") + (rule.post ? "post " : "");
}

}  // namespace

class SchemeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void rows_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<QString>("norms");
        const auto row = [](Scheme scheme, const char* norms) {
            QTest::newRow(word_of(scheme)) << static_cast<int>(scheme) << norms;
        };
        row(Scheme::None, "");
        row(Scheme::Post, "post ");
        row(Scheme::Pre, "in ");
        row(Scheme::Peri, "in out ");
        row(Scheme::Sandwich, "in out ");
        row(Scheme::DeepNorm, "post ");
        row(Scheme::Lns, "in ");
        row(Scheme::Output, "out ");
        row(Scheme::Custom, "");
    }
    void rows() {
        QFETCH(int, scheme);
        QFETCH(QString, norms);
        const auto kind = static_cast<Scheme>(scheme);
        QCOMPARE(scheme_row(kind).scheme, kind);
        for (int layer : {0, 3, 7})
            for (Sublayer sublayer : {Sublayer::Attention, Sublayer::FeedForward}) {
                const SublayerRule rule = sublayer_rule(stack_of(kind), layer, sublayer);
                QCOMPARE(QString::fromStdString(namesOfNorms(rule)), norms);
                QCOMPARE(rule.a, kind == Scheme::DeepNorm ? 2.0 : 1.0);  // (2·8)^{1/4}
                QCOMPARE(rule.b, 1.0);
                QCOMPARE(rule.s_in, kind == Scheme::Lns ? 1 / std::sqrt(layer + 1.0) : 1.0);
            }
    }

    /// A norm is a value at a place; the form expresses more than the passes compute, and the rest is
    /// rejected.
    void normsAreValues() {
        StackSpec spec = stack_of(Scheme::Peri);
        spec.norm = {NormKind::RmsNorm, 1e-3};
        const SublayerRule rule = sublayer_rule(spec, 2, Sublayer::FeedForward);
        QVERIFY(rule.in == spec.norm && rule.out == spec.norm && !rule.post && !rule.v);
        QVERIFY(final_norm_of(spec) == spec.norm && !embedding_norm_of(spec) && !qk_norm_of(spec));
        check_computed(rule);

        SublayerRule values = rule, source = rule;
        values.v = spec.norm;
        source.residual = ResidualSource::Embedding;
        for (const SublayerRule& beyond : {values, source})
            QVERIFY_EXCEPTION_THROWN(check_computed(beyond), InputError);
    }

    void kindsAreListedInTheirOrder() {
        QCOMPARE(words_of<NormKind>().size(), std::size_t{2});
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm}) {
            QVERIFY(norm_kind_row(kind).kind == kind);
            QCOMPARE(words_of<NormKind>()[static_cast<std::size_t>(kind)], norm_kind_row(kind).word);
        }
    }

    void lnsAsGain() {
        StackSpec spec = stack_of(Scheme::Lns);
        spec.lns_form = LnsForm::Gamma;
        QCOMPARE(sublayer_rule(spec, 3, Sublayer::Attention).s_in, 1.0);
    }

    void mixSplitsAtTheFloor() {
        StackSpec spec = stack_of(Scheme::Mix, 10);  // ⌊0.25·10⌋ = 2 Post-LN layers
        for (int layer = 0; layer < 10; ++layer)
            QCOMPARE(namesOfNorms(sublayer_rule(spec, layer, Sublayer::FeedForward)),
                     std::string(layer < 2 ? "post " : "in "));
        spec.mix_post_fraction = 0;
        QCOMPARE(namesOfNorms(sublayer_rule(spec, 0, Sublayer::Attention)), std::string("in "));
        spec.mix_post_fraction = 1;
        QCOMPARE(namesOfNorms(sublayer_rule(spec, 9, Sublayer::Attention)), std::string("post "));
    }

    void overridesManuallyMergeKeyByKey() {
        StackSpec spec = stack_of(Scheme::Pre);
        LayerOverride manual;
        manual.index = 3;
        manual.attn.post = true;
        manual.attn.a = 0.5;
        manual.ffn.in = false;
        manual.ffn.b = 2;
        spec.layers.push_back(manual);
        const SublayerRule attention = sublayer_rule(spec, 3, Sublayer::Attention);
        QCOMPARE(namesOfNorms(attention), std::string("in post "));
        QCOMPARE(attention.a, 0.5);
        QCOMPARE(attention.b, 1.0);
        const SublayerRule feed_forward = sublayer_rule(spec, 3, Sublayer::FeedForward);
        QCOMPARE(namesOfNorms(feed_forward), std::string(""));
        QCOMPARE(feed_forward.b, 2.0);
        QCOMPARE(namesOfNorms(sublayer_rule(spec, 2, Sublayer::Attention)), std::string("in "));
    }

    /// A parallel layer has one post norm, the feed-forward sub-layer's, and one shortcut, attention's.
    void aParallelLayerHasOnePostNormAndOneShortcut() {
        StackSpec spec = stack_of(Scheme::Post);
        spec.layout = Layout::Parallel;
        spec.layers.resize(1);
        spec.layers[0].attn.a = 0.7;
        spec.layers[0].ffn.a = 0.2;
        const SublayerRule attention = sublayer_rule(spec, 0, Sublayer::Attention),
                           feed_forward = sublayer_rule(spec, 0, Sublayer::FeedForward);
        QCOMPARE(namesOfNorms(attention), std::string(""));
        QCOMPARE(namesOfNorms(feed_forward), std::string("post "));
        QCOMPARE(attention.a, 0.7);
        QCOMPARE(feed_forward.a, 0.7);
        QCOMPARE(attention.gate, GateSite::Shortcut);
        QCOMPARE(feed_forward.gate, GateSite::Shortcut);
        spec.layers[0].ffn.post = false;
        QCOMPARE(sublayer_rule(spec, 0, Sublayer::Attention).gate, GateSite::Output);
    }

    void gatesGoWhereAPostNormIsOrToTheOutput() {
        QCOMPARE(sublayer_rule(stack_of(Scheme::Post), 0, Sublayer::Attention).gate, GateSite::Shortcut);
        QCOMPARE(sublayer_rule(stack_of(Scheme::Pre), 0, Sublayer::Attention).gate, GateSite::Output);
        StackSpec mix = stack_of(Scheme::Mix);
        QCOMPARE(sublayer_rule(mix, 0, Sublayer::Attention).gate, GateSite::Shortcut);
        QCOMPARE(sublayer_rule(mix, 7, Sublayer::Attention).gate, GateSite::Output);
        mix.gpas.site = GateSite::Shortcut;
        QCOMPARE(sublayer_rule(mix, 7, Sublayer::Attention).gate, GateSite::Shortcut);
    }
};

NORMSCOPE_TEST(SchemeTest)
#include "scheme_test.moc"
