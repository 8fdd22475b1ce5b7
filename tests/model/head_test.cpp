// SPDX-License-Identifier: GPL-3.0-or-later
// Logit soft cap and z-loss through the whole model: loss, logits and every parameter's gradient.
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

StackSpec stack_of(bool tied, double cap, double z) {
    StackSpec s;
    s.depth = 1;
    s.d_model = 6;
    s.heads = 2;
    s.context = 4;
    s.tied_head = tied;
    s.logit_soft_cap = cap;
    s.z_loss = z;
    complete(s, 7);
    return s;
}

Batch small_batch() {
    return {2, 4, {0, 3, 2, 6, 1, 1, 5, 4}, {3, 2, 6, 0, 1, 5, 4, 2}};
}

/// From the logits alone: mean cross-entropy, and the mean of the squared log-sum-exp.
std::pair<double, double> losses_of(const Tape<double>& tape, const Batch& batch, int V) {
    double entropy = 0, squares = 0;
    for (std::size_t r = 0; r < batch.targets.size(); ++r) {
        const double* row = tape.logits + r * static_cast<std::size_t>(V);
        double sum = 0;
        for (int i = 0; i < V; ++i) sum += std::exp(row[i]);
        const double lse = std::log(sum), rows = static_cast<double>(batch.targets.size());
        entropy += (lse - row[batch.targets[r]]) / rows;
        squares += lse * lse / rows;
    }
    return {entropy, squares};
}

}  // namespace

class HeadTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void gradients_data() {
        QTest::addColumn<bool>("tied");
        QTest::addColumn<double>("cap");
        QTest::addColumn<double>("z");
        for (bool tied : {false, true})
            for (double cap : {0.0, 1.5})
                for (double z : {0.0, 0.2})
                    QTest::addRow("tied %d cap %g z %g", tied, cap, z) << tied << cap << z;
    }
    void gradients() {
        QFETCH(bool, tied);
        QFETCH(double, cap);
        QFETCH(double, z);
        Transformer<double> model(stack_of(tied, cap, z), 4);
        const Batch batch = small_batch();
        ThreadPool pool(1);
        Tape<double> tape;
        Gradients<double> gradients;
        model.forward(batch, tape, pool);
        model.clear(gradients, batch.sequences);
        model.backward(batch, tape, 1, gradients, pool);
        model.reduce(gradients, pool);
        QVERIFY(std::abs(tape.mean_loss() - losses_of(tape, batch, 7).first) < 1e-13);

        const auto total = [&] {
            Tape<double> moved;
            model.forward(batch, moved, pool);
            const auto [entropy, squares] = losses_of(moved, batch, 7);
            return entropy + z * squares;
        };
        double largest = 0;
        for (std::size_t i = 0; i < model.parameters().size(); ++i) {
            double& p = model.parameters()[i];
            const double at = p, h = 1e-5;
            p = at + h;
            const double up = total();
            p = at - h;
            const double down = total();
            p = at;
            const double difference = (up - down) / (2 * h);
            largest = std::max(largest, std::abs(difference));
            QVERIFY(std::abs(difference - gradients.total().data()[i]) < 1e-8);
        }
        QVERIFY(largest > 1e-2);
    }

    void cappedLogits() {
        const Batch batch = small_batch();
        ThreadPool pool(1);
        Tape<double> free, capped;
        Transformer<double>(stack_of(false, 0, 0), 4).forward(batch, free, pool);
        Transformer<double>(stack_of(false, 0.5, 0.3), 4).forward(batch, capped, pool);
        for (std::size_t i = 0; i < 8 * 7; ++i)
            QVERIFY(std::abs(capped.logits[i] - 0.5 * std::tanh(free.logits[i] / 0.5)) < 1e-15);
    }
};

NORMSCOPE_TEST(HeadTest)
#include "head_test.moc"
