// SPDX-License-Identifier: GPL-3.0-or-later
// The norms of the parameters' gradients by sub-layer, against the gradients of the tensors of that name.
#include "core/probe/gradients.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numeric>

using namespace normscope;

class GradientsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void parametersByLayerAndSublayer() {
        StackSpec s;
        s.depth = 3;
        s.d_model = 8;
        s.heads = 2;
        s.context = 5;
        s.gpas.enabled = true;
        complete(s, 9);
        const Transformer<double> model(s, 1);
        Batch batch{2, 5, {}, {}};
        for (int i = 0; i < 10; ++i) {
            batch.tokens.push_back((7 * i + i / 3) % 9);
            batch.targets.push_back((4 * i + 1) % 9);
        }
        ThreadPool pool(2);
        ProbeInput<double> input(model, batch, pool, 0);
        const ProbeResult result = probe_gradients(input);
        const HostView<double> gradients = input.parameter_gradients();
        const auto norm_of = [&](const std::string& prefix) {
            double squares = 0;
            for (const TensorInfo& t : model.table().tensors())
                for (std::size_t i = 0; i < t.count && t.name.starts_with(prefix); ++i)
                    squares += gradients[t.offset + i] * gradients[t.offset + i];
            return std::sqrt(squares);
        };
        const auto& params = result.find("params")->data;
        for (std::size_t layer = 0; layer < 3; ++layer) {
            const std::string block = "blocks." + std::to_string(layer);
            const double attn = norm_of(block + ".attn."), ffn = norm_of(block + ".ffn.");
            QVERIFY(attn > 1e-6 && ffn > 1e-6 && std::abs(attn / ffn - 1) > 0.01);
            QVERIFY(std::abs(params[2 * layer] / attn - 1) < 1e-12);
            QVERIFY(std::abs(params[2 * layer + 1] / ffn - 1) < 1e-12);
        }
        QVERIFY(std::abs(result.find("total")->data[0] / norm_of("") - 1) < 1e-12);

        // The loss and its error: of equally long sequences, the standard error of their mean.
        const Tape<double>& tape = input.tape();
        std::vector<double> of;
        for (std::int64_t b = 0; b < batch.sequences; ++b) {
            double sum = 0;
            const auto rows = tape.view(tape.losses, static_cast<std::size_t>(tape.rows()));
            for (std::int64_t i = 0; i < batch.length; ++i)
                sum += rows[static_cast<std::size_t>(b * batch.length + i)];
            of.push_back(sum / static_cast<double>(batch.length));
        }
        const auto n = static_cast<double>(of.size());
        const double mean_loss = std::accumulate(of.begin(), of.end(), 0.0) / n;
        double squares = 0;
        for (const double loss : of) squares += (loss - mean_loss) * (loss - mean_loss);
        QVERIFY(of.size() >= 2 && squares > 0);
        QVERIFY(std::abs(result.find("loss")->data[0] / mean_loss - 1) < 1e-12);
        QVERIFY(std::abs(result.find("loss_error")->data[0] / std::sqrt(squares / (n - 1) / n) - 1) < 1e-9);
    }
};

NORMSCOPE_TEST(GradientsTest)
#include "gradients_test.moc"
