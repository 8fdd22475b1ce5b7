// SPDX-License-Identifier: GPL-3.0-or-later
// TF32, BF16 and FP16 on the emulated CUDA device: which results are rounded, and to what (cuda_verify.h).
#include "tests/backend/cuda_verify.h"

using namespace normscope;
using namespace normscope::device_side;

class CudaFormatsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void emulatedFormats_data() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<int>("policy");
        const auto pure = static_cast<int>(PrecisionPolicy::Pure),
                   autocast = static_cast<int>(PrecisionPolicy::Autocast);
        QTest::newRow("bf16") << static_cast<int>(Rounding::Bf16) << pure;
        QTest::newRow("fp16") << static_cast<int>(Rounding::Fp16) << pure;
        QTest::newRow("bf16 autocast") << static_cast<int>(Rounding::Bf16) << autocast;
        QTest::newRow("fp16 autocast") << static_cast<int>(Rounding::Fp16) << autocast;
        QTest::newRow("tf32") << static_cast<int>(Rounding::Tf32) << autocast;
    }
    /// Against the CPU's emulated operations: a sum in another order may round to the format's next value.
    /// Which results are rounded is the same.
    void emulatedFormats() {
        QFETCH(int, rounding);
        QFETCH(int, policy);
        const auto to = static_cast<Rounding>(rounding);
        const auto policy_of = static_cast<PrecisionPolicy>(policy);
        const bool pure = policy_of == PrecisionPolicy::Pure;
        const double unit = to == Rounding::Bf16 ? 1.0 / 128 : 1.0 / 1024;
        const auto format = [&](std::vector<double> values) {
            for (double& v : values) v = static_cast<double>(rounded(to, static_cast<float>(v)));
            return values;
        };
        const auto results = [&](Device& device) {
            Side<float> s(device, to, policy_of);
            Outputs all;
            const auto keep = [&](const char* name, const float* at, std::size_t count) {
                all.push_back({name, s.read(at, count)});
            };
            const auto x = format(drawn(n, 1)), y = format(drawn(n, 2)),
                       w = format(drawn(area(d, d), 3, 0.3)), v = format(drawn(d, 4));
            float *out = s.out(n), *other = s.out(n);
            s.ops.linear(R, d, d, s.in(x), {s.in(w), nullptr, s.in(v)}, out);
            keep("linear", out, n);
            float* dW = s.in(w);
            s.ops.linear_weight_gradient(R, d, d, s.in(x), s.in(y), false, dW);
            keep("linear_weight_gradient", dW, area(d, d));
            float* sums = s.in(v);
            s.ops.column_sums(R, d, s.in(drawn(n, 5)), sums);
            keep("column_sums", sums, d);
            const NormRows<float> rows{NormKind::LayerNorm,  R,       d,      s.in(x),
                                       {s.out(R), s.out(R)}, s.in(v), nullptr};
            s.ops.norm_forward(rows, s.scalar_in(1e-3), nullptr, out);
            keep("norm_forward", out, n);
            float* dgamma = s.in(v);
            s.ops.norm_vjp(rows, s.in(y), nullptr, false, out, dgamma, nullptr);
            keep("norm_vjp", out, n);
            keep("dgamma", dgamma, d);
            s.ops.activation(Activation::GeluTanh, n, s.in(x), out, other);
            keep("activation", out, n);
            s.ops.multiply(n, s.in(x), s.in(y), out);
            keep("multiply", out, n);
            s.ops.axpby(n, s.scalar_in(0.3), s.in(x), s.scalar_in(0.6), s.in(y), out);
            keep("axpby", out, n);
            s.ops.scale_columns(R, d, s.in(v), s.in(x), out);
            keep("scale_columns", out, n);
            std::vector<std::int32_t> tokens;
            for (int i = 0; i < R; ++i) tokens.push_back(i * 7 % 19);
            float* dtable = s.in(format(drawn(area(19, d), 6)));
            s.ops.embedding_vjp(7, 11, d, s.of(tokens), s.in(x), 19, dtable, 11, nullptr);
            keep("embedding_vjp", dtable, area(19, d));
            float* losses = s.out(R);
            s.ops.cross_entropy(R, d, s.in(x), s.of(tokens), s.scalar_in(0.1), 0, losses, out);
            keep("cross_entropy", out, n);
            const AttentionShape shape{36, 3, 3, 35, true, QkNorm::Off, NormKind::LayerNorm};
            const std::size_t hidden = area(70, 36), qkv = area(70, 108), maps = area(6 * 35, 35);
            const AttentionWeights<float> weights{
                {s.in(format(drawn(area(108, 36), 7, 0.3))), nullptr, nullptr},
                {s.in(format(drawn(area(36, 36), 8, 0.3))), nullptr, nullptr},
                nullptr,
                nullptr,
                nullptr,
                s.scalar_in(1e-3),
                s.scalar_in(0.25)};
            const AttentionTape<float> tape{s.out(qkv), nullptr, {}, {}, s.out(maps), s.out(hidden)};
            float *f = s.out(hidden), *du = s.out(hidden);
            float* u = s.in(format(drawn(hidden, 9)));
            s.ops.attention_forward(shape, 2, weights, u, tape, f);
            keep("attention_forward", f, hidden);
            keep("probabilities", tape.probabilities, maps);
            s.ops.attention_vjp(shape, 2, 1, weights, tape, u, s.in(format(drawn(hidden, 10))), du, nullptr);
            keep("attention_vjp", du, hidden);
            float* low = s.in(drawn(n, 11));
            s.ops.round_weights(n, low);
            keep("round_weights", low, n);
            return all;
        };
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
        const Outputs found = results(device), expected = results(cpu_device());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const auto& [name, values] = expected[k];
            const double error =
                error_of<float>({found[k]}, {expected[k]}) * std::numeric_limits<float>::epsilon();
            QVERIFY2(error <= 3 * unit,
                     qPrintable(QString("%1: %2 units").arg(name.c_str()).arg(error / unit)));
            const bool rounded_there = format(values) == values;
            QVERIFY2(!pure || rounded_there, name.c_str());
            QVERIFY2((format(found[k].second) == found[k].second) == rounded_there, name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(CudaFormatsTest)
#include "cuda_formats_test.moc"
