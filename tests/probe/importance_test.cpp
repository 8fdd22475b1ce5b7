// SPDX-License-Identifier: GPL-3.0-or-later
// The loss without a branch, against evaluations of the same weights in a stack without that branch.
#include "core/probe/importance.h"

#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kSequences = 3;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = 3;
    s.d_model = 8;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.mix_post_fraction = 0.5;
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

Batch batch_of() {
    Batch batch{kSequences, kTokens, {}, {}};
    for (int i = 0; i < kSequences * kTokens; ++i) {
        batch.tokens.push_back((7 * i + 3) % 9);
        batch.targets.push_back((4 * i + i / 5) % 9);
    }
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

/// The same weights with b = 0 in these sub-layers: the sum itself omits the branch.
double loss_without(const Transformer<double>& model, const std::vector<int>& sublayers, const Batch& batch,
                    ThreadPool& pool) {
    StackSpec spec = model.spec();
    for (const int k : sublayers) {
        auto layer = std::find_if(spec.layers.begin(), spec.layers.end(),
                                  [&](const LayerOverride& o) { return o.index == k / 2; });
        if (layer == spec.layers.end()) layer = spec.layers.insert(layer, {k / 2, {}, {}});
        (k % 2 == 0 ? layer->attn : layer->ffn).b = 0;
    }
    Transformer<double> without(spec, 1);
    std::copy(model.parameters().begin(), model.parameters().end(), without.parameters().begin());
    Tape<double> tape;
    without.forward(batch, tape, pool);
    return tape.mean_loss();
}

}  // namespace

class ImportanceTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

  private Q_SLOTS:
    void againstStacksWithoutTheBranch_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("layout");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (int layout : {0, 1})
                QTest::addRow("%s %d", word_of(static_cast<Scheme>(scheme)), layout) << scheme << layout;
    }
    void againstStacksWithoutTheBranch() {
        QFETCH(int, scheme);
        QFETCH(int, layout);
        StackSpec spec = stack_of(static_cast<Scheme>(scheme));
        spec.layout = static_cast<Layout>(layout);
        spec.gpas.enabled = scheme % 2 == 0;
        const auto model = model_of<double>(spec);
        const std::vector<double> before(model.parameters().begin(), model.parameters().end());
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("importance"), input);
        const double loss = loss_without(model, {}, batch, pool_);
        QVERIFY(std::abs(values(result, "loss")[0] - loss) < 1e-14);
        for (int k = 0; k < 6; ++k) {
            const double change = loss_without(model, {k}, batch, pool_) - loss;
            QVERIFY2(std::abs(values(result, "sublayer")[static_cast<std::size_t>(k)] - change) < 1e-12,
                     qPrintable(QString::number(change)));
        }
        for (int l = 0; l < 3; ++l) {
            const double change = loss_without(model, {2 * l, 2 * l + 1}, batch, pool_) - loss;
            QVERIFY(std::abs(values(result, "layer")[static_cast<std::size_t>(l)] - change) < 1e-12);
        }
        QVERIFY(std::equal(before.begin(), before.end(), model.parameters().begin()));
    }

    /// The error is that of the difference, sequence by sequence.
    void errorsArePaired() {
        const auto model = model_of<double>(stack_of(Scheme::Pre));
        const Batch all = batch_of();
        ProbeInput<double> input(model, all, pool_, 0);
        const ProbeResult result = probe_importance(input);
        std::vector<double> changes;
        for (int b = 0; b < kSequences; ++b) {
            Batch one{1, kTokens, {}, {}};
            one.tokens.assign(all.tokens.begin() + b * kTokens, all.tokens.begin() + (b + 1) * kTokens);
            one.targets.assign(all.targets.begin() + b * kTokens, all.targets.begin() + (b + 1) * kTokens);
            changes.push_back(loss_without(model, {3}, one, pool_) - loss_without(model, {}, one, pool_));
        }
        double mean = 0, squares = 0;
        for (const double c : changes) mean += c / kSequences;
        for (const double c : changes) squares += (c - mean) * (c - mean);
        QVERIFY(std::abs(values(result, "sublayer")[3] - mean) < 1e-13);
        QVERIFY(std::abs(values(result, "sublayer_error")[3] -
                         std::sqrt(squares / (kSequences * (kSequences - 1)))) < 1e-13);
    }

    void inARoundedPrecisionAndWithoutTargets() {
        auto model = model_of<float>(stack_of(Scheme::Peri));
        model.set_rounding(Rounding::Bf16);
        Batch batch = batch_of();
        ProbeInput<float> input(model, batch, pool_, 0);
        const ProbeResult result = probe_importance(input);
        for (const double v : values(result, "layer")) QVERIFY(std::isfinite(v) && v != 0);
        batch.targets.clear();
        ProbeInput<float> bare(model, batch, pool_, 0);
        for (const NamedArray& array : probe_importance(bare).arrays)
            for (const double v : array.data) QVERIFY(std::isnan(v));
    }
};

NORMSCOPE_TEST(ImportanceTest)
#include "importance_test.moc"
