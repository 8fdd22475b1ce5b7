// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <limits>
#include <span>
#include <vector>

using namespace normscope;

class FirstBadTest : public QObject {
    Q_OBJECT

    static std::span<float> gains(Transformer<float>& model, const char* name) {
        const TensorInfo* t = model.table().find(name);
        if (!t) qFatal("no tensor %s", name);
        return model.parameters().subspan(t->offset, t->count);
    }
  private Q_SLOTS:
    /// A weight that is finite itself and makes the next operation overflow float32: that operation is named.
    void theOperationIsNamed_data() {
        QTest::addColumn<bool>("llama");
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QString>("text");
        QTest::newRow("qkv") << false << "blocks.1.attn.wk"
                             << "step 3 · layer 2 attn.qkv · ";
        QTest::newRow("w1") << false << "blocks.0.ffn.w1"
                            << "step 3 · layer 1 ffn.w1 · ";
        QTest::newRow("w2") << false << "blocks.0.ffn.w2"
                            << "step 3 · layer 1 ffn.w2 · ";
        QTest::newRow("normalised keys") << true << "blocks.1.attn.wk"
                                         << "step 3 · layer 2 attn.qkv · ";
        QTest::newRow("gate") << true << "blocks.0.ffn.w_gate"
                              << "step 3 · layer 1 ffn.w_gate/w_up · ";
        QTest::newRow("up") << true << "blocks.0.ffn.w_up"
                            << "step 3 · layer 1 ffn.w_gate/w_up · ";
        QTest::newRow("down") << true << "blocks.1.ffn.w_down"
                              << "step 3 · layer 2 ffn.w_down · ";
        QTest::newRow("embedding norm") << true << "emb_norm.weight"
                                        << "step 3 · emb_norm · ";
    }
    void theOperationIsNamed() {
        QFETCH(bool, llama);
        QFETCH(QString, tensor);
        QFETCH(QString, text);
        StackSpec spec;
        spec.depth = 2;
        if (llama) {
            apply_block_preset(spec, Block::Llama);
            spec.embedding_norm = true;
            spec.qk_norm = QkNorm::Head;
        }
        complete(spec, 7);
        Transformer<float> model(spec, 1);
        const TensorInfo* changed = model.table().find(tensor.toStdString());
        QVERIFY(changed);
        const Batch batch{1, 5, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}};
        ThreadPool pool(1);
        Tape<float> tape;
        model.forward(batch, tape, pool);
        QVERIFY(!first_bad_value<float>(model, tape, nullptr, 3));
        for (std::size_t i = changed->offset; i < changed->offset + changed->count; ++i)
            model.parameters()[i] = 3e38f;
        model.forward(batch, tape, pool);
        const auto outcome = first_bad_value<float>(model, tape, nullptr, 3);
        QVERIFY(outcome);
        QVERIFY2(outcome->text.starts_with(text.toStdString()), outcome->text.c_str());
    }

    /// A loss scale beyond what the gradients fit in: the first gradient of the backward pass is named, not a
    /// tensor's below.
    void theFirstBadGradient() {
        StackSpec spec;
        spec.depth = 2;
        spec.d_model = 8;
        spec.heads = 2;
        spec.context = 5;
        complete(spec, 7);
        Transformer<float> model(spec, 1);
        model.set_rounding(Rounding::Fp16);
        model.set_parameters(std::vector<float>(model.parameters().begin(), model.parameters().end()));
        const Batch batch{1, 5, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}};
        ThreadPool pool(1);
        Tape<float> tape;
        model.forward(batch, tape, pool);
        const auto first = [&](float scale) {
            Gradients<float> gradients;
            BackwardRecord<float> record;
            model.clear(gradients, 1);
            model.backward(batch, tape, scale, gradients, pool, &record);
            model.reduce(gradients, pool);
            const auto bad = first_bad_backward<float>(model, record, gradients.total().data(), 3);
            return bad ? QString::fromStdString(bad->text) : QString();
        };
        QCOMPARE(first(1024), QString());
        QCOMPARE(first(1e9F), QString("step 3 · gradient of head.weight · nan"));
        // With a small γ before the head and a large one at the first norm, the gradient grows on its way
        // down.
        for (float& gain : gains(model, "blocks.0.ffn.norm_in.weight")) gain = 8000;
        model.forward(batch, tape, pool);
        QCOMPARE(first(0x1p16F), QString());
        QCOMPARE(first(0x1p17F), QString("step 3 · layer 1 gradient of attn.wq · nan"));
    }

    /// A gradient of a hidden state comes after the tensors above it and before those below.
    void statesAndTensorsAreInTheOrderOfTheBackwardPass() {
        StackSpec spec;
        spec.depth = 2;
        spec.d_model = 8;
        spec.heads = 2;
        spec.context = 5;
        complete(spec, 7);
        const Transformer<float> model(spec, 1);
        std::vector<float> gradients(model.parameters().size());
        BackwardRecord<float> record;
        const std::vector<float> zeros(40);
        for (int k = 0; k < 5; ++k) record.hidden.emplace_back(cpu_device(), zeros.size());
        for (auto& state : record.hidden) std::copy(zeros.begin(), zeros.end(), state.data());
        const auto first = [&] {
            const auto bad = first_bad_backward<float>(model, record, gradients.data(), 3);
            return bad ? QString::fromStdString(bad->text) : QString();
        };
        const auto tensor = [&](const char* name) -> float& {
            return gradients[model.table().find(name)->offset];
        };
        QCOMPARE(first(), QString());
        const float nan = std::numeric_limits<float>::quiet_NaN();
        tensor("tok_emb") = nan;
        QCOMPARE(first(), QString("step 3 · gradient of tok_emb · nan"));
        record.hidden[0].data()[39] = nan;
        QCOMPARE(first(), QString("step 3 · gradient of embedding · row 4 · nan"));
        tensor("blocks.0.attn.wo") = nan;
        QCOMPARE(first(), QString("step 3 · layer 1 gradient of attn.wo · nan"));
        record.hidden[2].data()[8] = nan;
        QCOMPARE(first(), QString("step 3 · layer 1 gradient of ffn.output · row 1 · nan"));
        tensor("blocks.1.attn.wq") = nan;
        QCOMPARE(first(), QString("step 3 · layer 2 gradient of attn.wq · nan"));
        record.hidden[4].data()[0] = std::numeric_limits<float>::infinity();
        QCOMPARE(first(), QString("step 3 · gradient of final_norm's input · row 0 · inf"));
        tensor("head.weight") = nan;
        QCOMPARE(first(), QString("step 3 · gradient of head.weight · nan"));
    }
};

NORMSCOPE_TEST(FirstBadTest)
#include "first_bad_test.moc"
