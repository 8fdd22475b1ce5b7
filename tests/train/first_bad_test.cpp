// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class FirstBadTest : public QObject {
    Q_OBJECT
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
};

NORMSCOPE_TEST(FirstBadTest)
#include "first_bad_test.moc"
