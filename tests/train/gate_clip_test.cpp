// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/gate_clip.h"

#include "core/train/trainer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

StackSpec gated_stack() {
    StackSpec s;
    s.depth = 3;
    s.d_model = 8;
    s.heads = 2;
    s.context = 8;
    s.gpas.enabled = true;
    return s;
}

std::unique_ptr<Trainer<double>> trainer_of(StackSpec stack, TrainSpec train) {
    train.batch = 4;
    train.steps = 10;
    std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
    complete(stack, corpus->vocab());
    return std::make_unique<Trainer<double>>(stack, train, corpus);
}

std::vector<double> gates_of(const Trainer<double>& trainer) {
    std::vector<double> gates;
    for (const auto& layer : trainer.model().table().attention)
        gates.push_back(trainer.model().parameters()[layer.gate]);
    return gates;
}

}  // namespace

class GateClipTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Gates 3, 4, 12 (norm 13), everything else 1: the global clip halves them, the gates' own brings them
    /// to 0.65.
    void scalesTheGatesAlone() {
        StackSpec s = gated_stack();
        complete(s, 5);
        const ParameterTable table(s);
        std::vector<double> gradients(table.size(), 1.0);
        const double values[] = {3, 4, 12};
        for (std::size_t l = 0; l < 3; ++l) gradients[table.attention[l].gate] = values[l];
        clip_gates(table, 0.65, 0.5, gradients.data());
        double others = 0, gates = 0;
        for (const TensorInfo& t : table.tensors())
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                (t.name.ends_with(".gate") ? gates : others) += gradients[i] * gradients[i];
        QCOMPARE(others, static_cast<double>(table.size() - 3));
        QVERIFY(std::abs(0.5 * std::sqrt(gates) - 0.65 * 6.5 / (6.5 + 1e-6)) < 1e-15);
        QVERIFY(std::abs(gradients[table.attention[1].gate] / gradients[table.attention[0].gate] - 4.0 / 3) <
                1e-15);
        const auto once = gradients;
        clip_gates(table, 10, 0.5, gradients.data());  // below the threshold
        clip_gates(table, 0, 0.5, gradients.data());   // off
        QVERIFY(gradients == once);
    }

    void aStackWithoutGatesIsLeftAlone() {
        StackSpec s = gated_stack();
        s.gpas.enabled = false;
        complete(s, 5);
        const ParameterTable table(s);
        std::vector<float> gradients(table.size(), 3.0f), before = gradients;
        clip_gates(table, 0.1, 1, gradients.data());
        QVERIFY(gradients == before);
    }

    /// In a step of Adam the threshold shows through ε: a gate's first move is lr·g/(|g| + ε).
    void theTrainerClips() {
        ThreadPool pool(1);
        TrainSpec train;
        train.optimizer.eps = 1e-3;
        StackSpec stack = gated_stack();
        const auto free = trainer_of(stack, train);
        stack.gpas.clip = 1e-6;
        const auto clipped = trainer_of(stack, train);
        const double norm = free->step(pool).grad_norm;
        QCOMPARE(clipped->step(pool).grad_norm, norm);  // reported before any clipping
        double squares = 0;
        for (double g : gates_of(*clipped)) {
            const double moved = std::abs(g) / 3e-3;  // = g/(g + ε)
            squares += std::pow(1e-3 * moved / (1 - moved), 2);
        }
        QVERIFY2(std::abs(std::sqrt(squares) - 1e-6 * (1 / (1 + 1e-6 / 1e-3))) < 2e-9,
                 qPrintable(QString::number(std::sqrt(squares))));
        for (double g : gates_of(*free)) QVERIFY(std::abs(g) > 1e-5);
        // Nothing else differs.
        for (const TensorInfo& t : free->model().table().tensors())
            if (!t.name.ends_with(".gate"))
                for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                    QCOMPARE(free->model().parameters()[i], clipped->model().parameters()[i]);
    }

    /// Predefined gates: no update, no part in the clip, but a gradient.
    void frozenGatesStay() {
        ThreadPool pool(1);
        StackSpec stack = gated_stack();
        stack.gpas.learnable = false;
        TrainSpec train;
        train.optimizer.weight_decay = 1;
        const auto trainer = trainer_of(stack, train);
        auto state = trainer->save();
        const auto& table = trainer->model().table();
        for (const auto& layer : table.attention) state.parameters[layer.gate] = 0.4;
        trainer->restore(state);
        while (!trainer->ended()) trainer->step(pool);
        for (double g : gates_of(*trainer)) QCOMPARE(g, 0.4);

        Tape<double> tape;
        Gradients<double> gradients;
        const Batch batch = trainer->probe_batch(2, trainer->model().spec().context);
        trainer->model().forward(batch, tape, pool);
        trainer->model().clear(gradients, batch.sequences);
        trainer->model().backward(batch, tape, 1, gradients, pool);
        trainer->model().reduce(gradients, pool);
        const double norm = gradient_norm(table, gradients.total().data(), pool);
        for (const auto& layer : table.attention) {
            QVERIFY(gradients.total().data()[layer.gate] != 0);
            gradients.total().data()[layer.gate] = 1e6;
        }
        QCOMPARE(gradient_norm(table, gradients.total().data(), pool), norm);
    }
};

NORMSCOPE_TEST(GateClipTest)
#include "gate_clip_test.moc"
