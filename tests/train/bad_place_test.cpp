// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bad_place.h"

#include "core/base/error.h"
#include "core/train/first_bad.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <functional>

using namespace normscope;

namespace {

constexpr int kTokens = 5;

StackSpec small_stack(bool llama, Scheme scheme, bool without_positions = false) {
    StackSpec spec;
    spec.depth = 2;
    spec.d_model = 16;
    spec.heads = 2;
    spec.context = kTokens;
    spec.scheme = scheme;
    if (without_positions) spec.position = Position::None;
    if (llama) apply_block_preset(spec, Block::Llama);
    complete(spec, 7);
    return spec;
}

void fill(Transformer<float>& model, const std::string& name, float value) {
    const TensorInfo* t = model.table().find(name);
    QVERIFY2(t, name.c_str());
    std::fill_n(model.parameters().begin() + static_cast<std::ptrdiff_t>(t->offset), t->count, value);
}

Batch one_sequence() {
    return {1, kTokens, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}};
}

struct Breakage {
    const char* name;
    bool llama;
    Scheme scheme;
    std::function<void(Transformer<float>&)> breaks;
    int layer;
    const char* operation;
    std::int64_t row;
    double value;  ///< within 0.1 %; 0: none is to be given
    const char* detail;
    const char* result;
};

std::vector<Breakage> breakages() {
    using Model = Transformer<float>;
    const auto branch = [](float per_add) {
        return [per_add](Model& m) {
            fill(m, "blocks.0.ffn.w2", 0), fill(m, "blocks.0.ffn.b2", per_add);
            fill(m, "blocks.1.attn.wo", 0), fill(m, "blocks.1.attn.bo", per_add);
        };
    };
    const auto constant_qk = [](Model& m) {
        fill(m, "blocks.1.attn.wq", 0), fill(m, "blocks.1.attn.bq", 100);
        fill(m, "blocks.1.attn.wk", 0), fill(m, "blocks.1.attn.bk", 100);
    };
    return {
        {"residual add", false, Scheme::Pre, branch(40000), 1, "attn.residual_add", 0, 80000, "", "inf"},
        {"residual add, negative", false, Scheme::Pre, branch(-40000), 1, "attn.residual_add", 0, -80000, "",
         "-inf"},
        {"residual add before a post norm", false, Scheme::Post,
         [](Model& m) {
             fill(m, "blocks.0.attn.norm_post.weight", 0), fill(m, "blocks.0.attn.norm_post.bias", 40000);
             fill(m, "blocks.0.ffn.w1", 0), fill(m, "blocks.0.ffn.b1", 0);
             fill(m, "blocks.0.ffn.w2", 0), fill(m, "blocks.0.ffn.b2", 40000);
         },
         0, "ffn.residual_add", 0, 80000, "", "inf"},
        {"scores", false, Scheme::Pre, constant_qk, 1, "attn.scores", 0, 80000, "head 1, key 0", "inf"},
        {"keys without positions", false, Scheme::Pre,
         [](Model& m) {
             fill(m, "blocks.0.attn.wk", 0), fill(m, "blocks.0.attn.bk", 0);
             const TensorInfo* bias = m.table().find("blocks.0.attn.bk");
             m.parameters()[bias->offset + 3] = 60000;
             fill(m, "blocks.0.attn.norm_in.weight", 0), fill(m, "blocks.0.attn.norm_in.bias", 1);
             const TensorInfo* weight = m.table().find("blocks.0.attn.wk");
             for (int i = 0; i < 16; ++i)
                 m.parameters()[weight->offset + 3 * 16 + static_cast<std::size_t>(i)] = 1000;
         },
         0, "attn.qkv", 0, 76000, "", "inf"},
        {"feed-forward, first matrix", false, Scheme::Pre,
         [](Model& m) {
             fill(m, "blocks.1.ffn.norm_in.weight", 0), fill(m, "blocks.1.ffn.norm_in.bias", 1);
             fill(m, "blocks.1.ffn.w1", 5000);
         },
         1, "ffn.w1", 0, 80000, "", "inf"},
        {"feed-forward, gated product", true, Scheme::Pre,
         [](Model& m) {
             // The first entry alone stays below the limit at every token.
             for (const char* name : {"blocks.0.ffn.w_gate", "blocks.0.ffn.w_up"}) fill(m, name, 0);
             const TensorInfo* gate = m.table().find("blocks.0.ffn.w_gate");
             const TensorInfo* up = m.table().find("blocks.0.ffn.w_up");
             fill(m, "tok_emb", 1), fill(m, "blocks.0.attn.wo", 0);
             m.parameters()[gate->offset] = m.parameters()[up->offset] = 300;
         },
         0, "ffn.activation", 0, 90000, "", "inf"},
        {"0 times infinity in a norm", false, Scheme::Pre,
         [](Model& m) {
             m.numerics.eps = 0;
             fill(m, "tok_emb", 1), fill(m, "pos_emb", 0);
         },
         0, "attn.norm_in", 0, 0, "1/sigma = inf", "nan"},
        {"gain of the final norm", false, Scheme::Pre,
         [](Model& m) {
             fill(m, "final_norm.weight", 0), fill(m, "final_norm.bias", 40000), fill(m, "head.weight", 1);
         },
         -1, "head", 0, 640000, "", "inf"},
    };
}

}  // namespace

class BadPlaceTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Constructed breakages in emulated FP16: the first operation of the forward pass that overflows, with
    /// the value that did, not what became NaN after it.
    void theFirstOperationIsNamed_data() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Breakage& b : breakages()) QTest::newRow(b.name) << index++;
    }
    void theFirstOperationIsNamed() {
        QFETCH(int, index);
        const Breakage expected = breakages()[static_cast<std::size_t>(index)];
        const bool without_positions = std::string(expected.name).ends_with("without positions");
        Transformer<float> model(small_stack(expected.llama, expected.scheme, without_positions), 1);
        model.set_rounding(Rounding::Fp16);
        expected.breaks(model);
        const std::vector<float> weights(model.parameters().begin(), model.parameters().end());
        model.set_parameters(weights);
        ThreadPool pool(1);
        Tape<float> tape;
        model.forward(one_sequence(), tape, pool);
        const auto outcome = first_bad_value<float>(model, tape, nullptr, 3);
        QVERIFY(outcome);
        const auto place = read_bad_place(outcome->text);
        QVERIFY2(place, outcome->text.c_str());
        QCOMPARE(place->step, 3);
        QVERIFY2(place->operation == expected.operation, outcome->text.c_str());
        QCOMPARE(place->layer, expected.layer);
        QCOMPARE(outcome->layer, expected.layer);
        QCOMPARE(place->row, expected.row);
        QCOMPARE(place->detail, std::string(expected.detail));
        QVERIFY2(place->result == expected.result, outcome->text.c_str());
        QCOMPARE(std::isnan(place->value), expected.value == 0);
        if (expected.value == 0) return;
        QCOMPARE(place->limit, 65504.0);
        QVERIFY2(std::abs(place->value / expected.value - 1) < 1e-3, outcome->text.c_str());
    }

    void theTextIsReadBack() {
        BadPlace place{212, 6, "attn.scores", 37, "head 2, key 9", -70130, 65504, NAN, "-inf"};
        const std::string text =
            "step 212 · layer 7 attn.scores · row 37, head 2, key 9: |-70130| > 65504 · -inf";
        QCOMPARE(bad_place_text(place), text);
        const auto again = read_bad_place(text);
        QVERIFY(again);
        QCOMPARE(bad_place_text(*again), text);
        QCOMPARE(again->value, -70130.0);
        QCOMPARE(again->detail, std::string("head 2, key 9"));
        // Of earlier versions.
        const auto old = read_bad_place("step 12 · L7 ffn.w2 · inf");
        QVERIFY(old && old->layer == 6 && old->operation == "ffn.w2" && old->row == -1);
        place.loss_scale = 0x1p-14;
        const auto lowest = read_bad_place(bad_place_text(place));
        QVERIFY2(bad_place_text(place).ends_with(" · at the lowest loss scale 6.10352e-05 · -inf"),
                 bad_place_text(place).c_str());
        QVERIFY(lowest && lowest->row == 37 && std::abs(lowest->loss_scale * 16384 - 1) < 1e-5);
        for (const char* other :
             {"step 1 · head · at the lowest loss scale x · inf", "step 1 · head · row 3 · row 3 · inf", "",
              "step 3 · loss · 4", "median of 20 losses", "step x · head · inf",
              "step 1 · layer 0 head · inf", "step 1 · head · row 3: 4 · inf"})
            QVERIFY2(!read_bad_place(other), other);
    }

    /// Never an index into the embedding: the pass rejects it by its number.
    void aBadTokenIsRejected() {
        const Transformer<float> model(small_stack(false, Scheme::Pre), 1);
        Batch batch = one_sequence();
        batch.tokens[3] = 7;
        Tape<float> tape;
        ThreadPool pool(1);
        try {
            model.forward(batch, tape, pool);
            QFAIL("not rejected");
        } catch (const InputError& error) {
            QVERIFY2(std::string(error.what()).find("7 is not a token") != std::string::npos, error.what());
        }
    }
};

NORMSCOPE_TEST(BadPlaceTest)
#include "bad_place_test.moc"
