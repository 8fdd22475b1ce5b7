// SPDX-License-Identifier: GPL-3.0-or-later
// The buffers of a step's gradients: their previous contents are ignored, contributions are added.
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace normscope;

namespace {

/// Every kind of tensor at once: two blocks, gates, scales, norms with biases, positions, a head of its own
/// or tied.
StackSpec stack(bool tied, bool llama) {
    StackSpec s;
    apply_block_preset(s, llama ? Block::Llama : Block::Gpt2);
    s.depth = 2;
    s.d_model = 12;
    s.heads = 2;
    s.context = 5;
    s.tied_head = tied;
    s.scheme = Scheme::Peri;
    s.gpas.enabled = true;
    s.branch_scale = BranchScale::Channel;
    s.qk_norm = QkNorm::Head;
    s.embedding_norm = true;
    complete(s, 7);
    validate(s);
    return s;
}

Batch tokens() {
    Batch batch{5, 5, {}, {}};  // four shards, one of them of two sequences
    for (int i = 0; i < 25; ++i) batch.tokens.push_back(i % 7), batch.targets.push_back((3 * i + 1) % 7);
    return batch;
}

}  // namespace

class GradientsTest : public QObject {
    Q_OBJECT

    static std::vector<double> gradient(const Transformer<double>& model, int times, double stale,
                                        double* norm = nullptr) {
        ThreadPool pool(2);
        const Batch batch = tokens();
        Tape<double> tape;
        model.forward(batch, tape, pool);
        Gradients<double> gradients;
        gradients.shards.resize(4);
        for (auto& shard : gradients.shards)
            shard.upload(model.device(), std::vector<double>(model.table().size(), stale));
        model.clear(gradients, batch.sequences);
        for (int i = 0; i < times; ++i) model.backward(batch, tape, 1, gradients, pool);
        const double reduced = model.reduce(gradients, pool);
        if (norm) *norm = reduced;
        return gradients.total().values();
    }

  private Q_SLOTS:
    void staleBuffersDoNotMatter_data() {
        QTest::addColumn<bool>("tied");
        QTest::addColumn<bool>("llama");
        for (const bool tied : {false, true})
            for (const bool llama : {false, true})
                QTest::addRow("%s, %s", tied ? "tied" : "untied", llama ? "llama" : "gpt2") << tied << llama;
    }
    void staleBuffersDoNotMatter() {
        QFETCH(bool, tied);
        QFETCH(bool, llama);
        const Transformer<double> model(stack(tied, llama), 3);
        const auto clean = gradient(model, 1, 0),
                   stale = gradient(model, 1, std::numeric_limits<double>::quiet_NaN());
        QVERIFY(std::all_of(clean.begin(), clean.end(), [](double g) { return std::isfinite(g); }));
        QVERIFY(clean == stale);
    }

    void passesAddUp() {
        const Transformer<double> model(stack(false, false), 3);
        const auto once = gradient(model, 1, 0), thrice = gradient(model, 3, 7);
        for (std::size_t i = 0; i < once.size(); ++i)
            QVERIFY(std::abs(thrice[i] - 3 * once[i]) <= 1e-13 * (1 + std::abs(once[i])));
    }

    void reduceReturnsTheNorm() {
        const Transformer<double> model(stack(false, true), 3);
        double norm = 0, squares = 0;
        for (const double g : gradient(model, 1, 0, &norm)) squares += g * g;
        QVERIFY(norm > 0);
        QVERIFY(std::abs(norm - std::sqrt(squares)) < 1e-14 * norm);
    }
};

NORMSCOPE_TEST(GradientsTest)
#include "gradients_test.moc"
