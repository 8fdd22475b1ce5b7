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

    /// log Z from the logits by another route; a number that is added to all logits moves it by as much and
    /// changes no loss.
    void logZIsThatOfTheLogits() {
        StackSpec s;
        s.depth = 2;
        s.d_model = 8;
        s.heads = 2;
        s.context = 5;
        complete(s, 9);
        Transformer<double> model(s, 1);
        Batch batch{3, 5, {}, {}};
        for (int i = 0; i < 15; ++i) {
            batch.tokens.push_back((7 * i + i / 3) % 9);
            batch.targets.push_back((4 * i + 1) % 9);
        }
        ThreadPool pool(2);
        // Channel 0 of the head's input is 1 at every token, so that its weights are a bias of the logits.
        model.parameters()[model.table().final_norm.weight] = 0;
        model.parameters()[model.table().final_norm.bias] = 1;
        struct Measured {
            ProbeResult result;
            double log_z = 0, spread = 0, largest = 0;
        };
        const auto measure = [&] {
            ProbeInput<double> input(model, batch, pool, 0);
            Measured of{probe_gradients(input)};
            const HostView<double> logits = input.tape().view(input.tape().logits, 15 * 9);
            std::vector<double> all;
            for (std::size_t row = 0; row < 15; ++row) {
                long double sum = 0;
                for (std::size_t v = row * 9; v < row * 9 + 9; ++v) {
                    sum += std::exp(static_cast<long double>(logits[v]));
                    of.largest = std::max(of.largest, std::abs(logits[v]));
                }
                all.push_back(static_cast<double>(std::log(sum)));
                of.log_z += all.back() / 15;
            }
            for (const double z : all) of.spread += (z - of.log_z) * (z - of.log_z) / 15;
            of.spread = std::sqrt(of.spread);
            return of;
        };
        const auto value = [](const Measured& of, const char* name) { return of.result.find(name)->data[0]; };
        const Measured before = measure();
        for (std::size_t v = 0; v < 9; ++v) model.parameters()[model.table().head + v * 8] += 1000;
        const Measured after = measure();
        for (const Measured& of : {before, after}) {
            QVERIFY(std::abs(value(of, "log_z") - of.log_z) < 1e-12);
            QVERIFY(std::abs(value(of, "log_z_spread") - of.spread) < 1e-12 && of.spread > 0.01);
            QCOMPARE(value(of, "max_logit"), of.largest);
            QVERIFY(value(of, "log_z_error") > 0 && value(of, "log_z_spread_error") > 0);
        }
        QVERIFY(std::abs(value(after, "log_z") - value(before, "log_z") - 1000) < 1e-12);
        QVERIFY(std::abs(value(after, "loss") - value(before, "loss")) < 1e-12);
        QVERIFY(value(before, "max_logit") < 20 && value(after, "max_logit") > 980);
    }
};

NORMSCOPE_TEST(GradientsTest)
#include "gradients_test.moc"
