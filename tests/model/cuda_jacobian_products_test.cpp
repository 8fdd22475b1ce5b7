// SPDX-License-Identifier: GPL-3.0-or-later
// On the emulated CUDA device the tangent pass (JVP) and the pull-back (VJP) of a whole stack are each
// other's transpose, ⟨w, Jv⟩ = ⟨Jᵀw, v⟩, in float64 and float32: every scheme, both blocks, gates under both
// Jacobians, norms on q and k, grouped keys, rotary positions, parallel layers; all tokens moved, or the last
// ones alone.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/model/transformer.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

constexpr int d = 16, tokens = 6, vocab = 11,
              sequence = 1;  // the second of two, so that a wrong offset shows
constexpr std::size_t one = std::size_t{tokens} * d;

StackSpec plain(Block block, Scheme scheme) {
    StackSpec s;
    s.depth = 2;
    s.d_model = d;
    s.heads = 4;
    s.d_ff = 19;
    s.context = tokens;
    apply_block_preset(s, block);
    s.scheme = scheme;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    if (scheme == Scheme::Mix) s.mix_post_fraction = 0.5;
    if (scheme == Scheme::Custom) {
        LayerOverride first;
        first.attn.in = first.attn.post = first.ffn.out = true;
        first.ffn.a = 0.8;
        s.layers = {first};
    }
    return s;
}

/// name -> stack.
std::vector<std::pair<std::string, StackSpec>> stacks() {
    std::vector<std::pair<std::string, StackSpec>> all;
    for (const Block block : {Block::Gpt2, Block::Llama}) {
        const std::string in = block == Block::Gpt2 ? ", gpt2" : ", llama";
        for (const SchemeRow& row : scheme_rows::kAll) {
            all.emplace_back(row.word + in, plain(block, row.scheme));
            all.emplace_back(row.word + in + ", gates", plain(block, row.scheme));
            all.back().second.gpas.enabled = true;
        }
        const auto option = [&](const char* name) -> StackSpec& {
            all.emplace_back(name + in, plain(block, Scheme::Peri));
            return all.back().second;
        };
        option("norms by head, groups").qk_norm = QkNorm::Head;
        all.back().second.kv_heads = 2;
        option("norms over heads, one key").qk_norm = QkNorm::Full;
        all.back().second.kv_heads = 1;
        option("one key").kv_heads = 1;
        option("rotary").position = Position::Rope;
        option("parallel").layout = Layout::Parallel;
        all.back().second.shared_norm = true;
        option("not causal").causal = false;
        option("window").window = 3;
        all.back().second.rope_global_every = 2;
        option("capped scores").attention_soft_cap = 0.5;
        option("capped scores, not causal").attention_soft_cap = 0.5;
        all.back().second.causal = false;
        option("scaled branches").branch_scale = BranchScale::Channel;
        option("SwiGLU").activation = Activation::SwiGlu;
        option("GeGLU").activation = Activation::GeGlu;
        option("other head width").head_width = 6;
        all.back().second.position = Position::Rope;
        all.back().second.rope_global_every = 2;
        option("ReLU").activation = Activation::Relu;
    }
    for (auto& [name, spec] : all) complete(spec, vocab);
    return all;
}

Batch batch() {
    Batch batch{2, tokens, {}, {}};
    for (int i = 0; i < 2 * tokens; ++i) batch.tokens.push_back((7 * i + 3) % vocab);
    return batch;
}

using Vector = std::vector<double>;
double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}
double norm(const Vector& a) {
    return std::sqrt(dot(a, a));
}

/// |⟨w, Jv⟩ − ⟨Jᵀw, v⟩| / (‖w‖‖Jv‖ + ‖Jᵀw‖‖v‖), the largest of all; NaN where the products are too small to
/// say anything.
template <class T>
double asymmetry(const StackSpec& spec, Device& device) {
    Transformer<T> model(spec, 5, device);
    {
        // Gains, biases, scales and gates away from where they start.
        const Vector noise = normals(model.table().size(), 6);
        const auto start = model.host_parameters();
        std::vector<T> weights(start.begin(), start.end());
        for (const TensorInfo& t : model.table().tensors())
            for (std::size_t i = t.offset; t.shape.size() < 2 && i < t.offset + t.count; ++i)
                weights[i] += static_cast<T>(0.3 * noise[i]);
        device.upload(model.parameters().data(), weights.data(), weights.size() * sizeof(T));
    }
    ThreadPool pool(1);
    Tape<T> tape;
    model.forward(batch(), tape, pool);
    const auto uploaded = [&](const Vector& values) {
        Buffer<T> buffer;
        buffer.upload(device, std::vector<T>(values.begin(), values.end()));
        return buffer;
    };
    const auto on_host = [](const Buffer<T>& buffer) {
        const std::vector<T> values = buffer.values();
        return Vector(values.begin(), values.end());
    };
    double worst = 0;
    for (const Jacobian kind : {Jacobian::Backprop, Jacobian::Forward})
        for (const int first_token : {0, tokens / 2, tokens - 1}) {
            if (!spec.causal && first_token > 0) continue;
            const std::size_t begin = static_cast<std::size_t>(first_token) * d, moved = one - begin;
            const Vector v = normals(moved, 10), w = normals(moved, 20);
            Vector padded(2 * one, 0.0);
            std::copy(w.begin(), w.end(),
                      padded.begin() + static_cast<std::ptrdiff_t>(sequence * one + begin));
            Buffer<T> tangent = uploaded(v), gradient = uploaded(padded);
            model.tangent(tape, sequence, 0, 2 * spec.depth, first_token, 1, kind, tangent.data());
            model.pull_back(tape, 0, 2 * spec.depth, kind, gradient.data());
            const Vector jv = on_host(tangent), all = on_host(gradient);
            const Vector jtw(all.begin() + static_cast<std::ptrdiff_t>(sequence * one + begin), all.end());
            const double left = dot(w, jv), right = dot(v, jtw),
                         scale = norm(w) * norm(jv) + norm(v) * norm(jtw);
            const bool silent = !(std::abs(left) > 1e-6 * scale);
            const bool other = norm(Vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(one))) != 0;
            const double found = silent || other ? std::nan("") : std::abs(left - right) / scale;
            if (!(found <= worst)) worst = found;
        }
    return worst;
}

}  // namespace

class CudaJacobianProductsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void transpose_data() {
        QTest::addColumn<int>("stack");
        int k = 0;
        for (const auto& [name, spec] : stacks()) QTest::newRow(name.c_str()) << k++;
    }
    void transpose() {
        QFETCH(int, stack);
        const StackSpec spec = stacks()[static_cast<std::size_t>(stack)].second;
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 3, false});
        const double wide = asymmetry<double>(spec, device), single = asymmetry<float>(spec, device);
        if (qEnvironmentVariableIsSet("NORMSCOPE_PRINT_ERRORS"))
            qInfo("float64 %.2g float32 %.2g", wide, single);
        QVERIFY2(wide <= 1e-12, qPrintable(QString::number(wide)));
        QVERIFY2(single <= 1e-5, qPrintable(QString::number(single)));
    }
};

NORMSCOPE_TEST(CudaJacobianProductsTest)
#include "cuda_jacobian_products_test.moc"
