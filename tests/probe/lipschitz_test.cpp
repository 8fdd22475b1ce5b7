// SPDX-License-Identifier: GPL-3.0-or-later
// Lipschitz bounds against dense matrices written out here, and no product of the passes above them.
#include "core/probe/lipschitz.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/model/rope_table.h"
#include "core/probe/bounds/layer_bounds.h"
#include "core/probe/registry.h"
#include "core/theory/softmax_sensitivity.h"
#include "tests/support/test_main.h"

#include <Eigen/Core>

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kTokens = 5, kWidth = 8, kSequences = 2;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = 2;
    s.d_model = kWidth;
    s.heads = 2;
    s.d_ff = 12;
    s.context = kTokens;
    s.scheme = scheme;
    s.mix_post_fraction = 0.5;
    s.residual_step = 0.6;
    s.temperature = 1.3;
    complete(s, 9);
    return s;
}

/// Gains, biases, scales and gates away from where they start.
template <class T>
Transformer<T> model_of(const StackSpec& spec, unsigned seed = 3) {
    Transformer<T> model(spec, seed);
    std::mt19937 generator(seed + 1);
    std::normal_distribution<double> normal(0, 0.4);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of() {
    Batch batch{kSequences, kTokens, {}, {}};
    for (int i = 0; i < kSequences * kTokens; ++i) batch.tokens.push_back((7 * i + i / 3) % 9);
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

double top(const Matrix& m) {
    std::vector<double> values(static_cast<std::size_t>(std::min(m.rows(), m.cols())));
    singular_values(static_cast<int>(m.rows()), static_cast<int>(m.cols()), m.data(), values.data());
    return values.front();
}

Matrix tensor(const Transformer<double>& model, const std::string& name) {
    const TensorInfo* t = model.table().find(name);
    if (!t) throw std::runtime_error(name);
    const auto columns = t->shape.size() == 2 ? t->shape[1] : 1;
    return Eigen::Map<const Matrix>(model.parameters().data() + t->offset,
                                    static_cast<Eigen::Index>(t->count) / columns, columns);
}

/// A map of `tokens` tokens from a dense matrix.
TokenMap<double> map_of(const Matrix& j) {
    const auto product = [size = j.rows()](const Matrix& m, int count, double* vectors) {
        Eigen::Map<Matrix> rows(vectors, count, size);
        rows = (rows * m.transpose()).eval();
    };
    return {[=](int count, double* v) { product(j, count, v); },
            [=](int count, double* v) { product(j.transpose(), count, v); }};
}

Matrix random_matrix(int rows, int columns, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Matrix m(rows, columns);
    for (double& v : m.reshaped()) v = normal(generator);
    return m;
}

}  // namespace

class LipschitzTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

    void check_never_exceeded(const StackSpec& spec, unsigned seed) {
        const auto model = model_of<double>(spec, seed);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("lipschitz"), input);
        for (const char* name : {"attention", "ffn", "sublayer", "layer"}) {
            const auto &bound = values(result, name),
                       &found = values(result, std::string(name) + "_measured");
            for (std::size_t i = 0; i < bound.size(); ++i) {
                QVERIFY2(
                    found[i] > 0 && found[i] <= bound[i] * (1 + 1e-10),
                    qPrintable(QString("%1 %2: %3 above %4").arg(name).arg(i).arg(found[i]).arg(bound[i])));
            }
        }
        for (const char* name : {"norm_gain", "sublayer", "layer"})
            for (std::size_t i = 0; i < values(result, name).size(); ++i)
                QVERIFY(values(result, name)[i] <=
                        values(result, std::string(name) + "_eps")[i] * (1 + 1e-12));
    }

  private Q_SLOTS:
    /// One token: the block-∞ norm is the spectral norm. Tokens of one channel: the largest sum of a row.
    void theSearchFindsKnownNorms() {
        for (unsigned seed = 0; seed < 10; ++seed) {
            const Matrix one = random_matrix(12, 12, seed), channel = random_matrix(9, 9, seed + 50);
            const double norm = largest_token_gain(cpu_device(), 1, 12, map_of(one), {4, 3000}, {seed, "t"});
            QVERIFY(std::abs(norm / top(one) - 1) < 1e-9);
            const double rows = channel.cwiseAbs().rowwise().sum().maxCoeff();
            const double found =
                largest_token_gain(cpu_device(), 9, 1, map_of(channel), {64, 6}, {seed, "t"});
            QVERIFY(std::abs(found / rows - 1) < 1e-12);
        }
    }

    void theSearchIsABoundFromBelowThatAscends() {
        const int n = 6, d = 4;
        const Matrix j = random_matrix(n * d, n * d, 7);
        double blocks = 0;  // ‖J‖ <= max_i Σ_j ‖J_ij‖₂
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += top(j.block(i * d, k * d, d, d));
            blocks = std::max(blocks, sum);
        }
        double last = 0;
        for (const int sweeps : {0, 1, 2, 8, 40}) {
            const double found = largest_token_gain(cpu_device(), n, d, map_of(j), {4, sweeps}, {1, "t"});
            QVERIFY(found >= last && found <= blocks);
            last = found;
        }
        QVERIFY(last > 1.2 * largest_token_gain(cpu_device(), n, d, map_of(j), {n, 0}, {1, "t"}));
        const Matrix zero = Matrix::Zero(n * d, n * d);
        QCOMPARE(largest_token_gain(cpu_device(), n, d, map_of(zero), {2, 2}, {1, "t"}), 0.0);
        const Matrix bad = Matrix::Constant(n * d, n * d, NAN);
        QVERIFY(std::isnan(largest_token_gain(cpu_device(), n, d, map_of(bad), {2, 2}, {1, "t"})));
    }

    /// Without norms a sub-layer is x + Δt·f(x): what remains of its map is f's, both ways.
    void theMapOfABranchIsWhatTheSublayerAdds() {
        for (const Position position : {Position::Learned, Position::Rope}) {
            StackSpec spec = stack_of(Scheme::None);
            spec.position = position;
            const auto model = model_of<double>(spec);
            const Batch batch = batch_of();
            ProbeInput<double> input(model, batch, pool_, 0);
            const Tape<double>& tape = input.tape();
            Buffer<double> angles;
            angles.upload(model.device(), rope_table<double>(spec));
            const int size = kTokens * kWidth;
            for (int sequence = 0; sequence < kSequences; ++sequence)
                for (int k = 0; k < 4; ++k) {
                    const auto branch = branch_map(model, tape, sequence, k, angles),
                               whole = sublayer_map(model, tape, sequence, k, k + 1);
                    Matrix f = Matrix::Identity(size, size), x = f, ft = f, xt = f;
                    branch.apply(size, f.data());
                    whole.apply(size, x.data());
                    branch.apply_transpose(size, ft.data());
                    whole.apply_transpose(size, xt.data());
                    const Matrix one = Matrix::Identity(size, size);
                    QVERIFY((one + 0.6 * f - x).norm() < 1e-12 * x.norm());
                    QVERIFY((one + 0.6 * ft - xt).norm() < 1e-12 * x.norm());
                    QVERIFY((f - ft.transpose()).norm() < 1e-12 * f.norm());
                }
        }
    }

    /// Every array of a Pre-LN stack from dense decompositions and double loops.
    void arraysAgainstDenseMatrices() {
        const StackSpec spec = stack_of(Scheme::Pre);
        const auto model = model_of<double>(spec);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("lipschitz"), input);
        const Tape<double>& tape = input.tape();
        const auto near = [&](const char* name, std::size_t at, double expected) {
            const double value = values(result, name).at(at);
            QVERIFY2(std::abs(value / expected - 1) < 1e-11,
                     qPrintable(QString("%1[%2] %3, %4").arg(name).arg(at).arg(value).arg(expected)));
        };
        const int rows = kSequences * kTokens, dh = kWidth / 2;
        const auto longest = [&](const double* x) {
            return Eigen::Map<const Matrix>(x, rows, kWidth).rowwise().norm().maxCoeff();
        };
        for (std::size_t l = 0; l < 2; ++l) {
            const std::string name = "blocks." + std::to_string(l);
            const Matrix wq = tensor(model, name + ".attn.wq"), wk = tensor(model, name + ".attn.wk"),
                         wv = tensor(model, name + ".attn.wv"), wo = tensor(model, name + ".attn.wo"),
                         bq = tensor(model, name + ".attn.bq");
            const double B = longest(tape.sublayers[2 * l].u);
            double value = 0, scores = 0, paper = 0, theta = 0;
            for (int h = 0; h < 2; ++h) {
                double of_head = 0;
                for (int b = 0; b < kSequences; ++b)
                    for (int i = 0; i < kTokens; ++i) {
                        const double* p =
                            tape.sublayers[2 * l].probabilities + ((b * 2 + h) * kTokens + i) * kTokens;
                        of_head = std::max(of_head,
                                           softmax_sensitivity({p, static_cast<std::size_t>(i + 1)}).value);
                    }
                theta = std::max(theta, of_head);
                const double q = top(wq.middleRows(h * dh, dh)), k = top(wk.middleRows(h * dh, dh)),
                             v = top(wv.middleRows(h * dh, dh)), bias = bq.middleRows(h * dh, dh).norm();
                const double phi = B / std::sqrt(dh) * k * (2 * q * B + bias) * v;
                value += top(wo) * v;
                scores += top(wo) * of_head / 1.3 * phi;
                paper += top(wo) * (v + of_head / 1.3 * 2 * B * B / std::sqrt(dh) * q * k * v);
            }
            near("attention_value", l, value);
            near("attention_scores", l, scores);
            near("attention", l, value + scores);
            near("attention_paper", l, paper);
            const double ffn =
                1.1290 * top(tensor(model, name + ".ffn.w1")) * top(tensor(model, name + ".ffn.w2"));
            near("ffn", l, ffn);
            double product = 1, product_eps = 1;
            for (std::size_t half = 0; half < 2; ++half) {
                const std::size_t k = 2 * l + half;
                const double gamma =
                    tensor(model, name + (half ? ".ffn" : ".attn") + ".norm_in.weight").cwiseAbs().maxCoeff();
                double inverse = 0;
                for (int r = 0; r < rows; ++r) {
                    const auto x = Eigen::Map<const Eigen::ArrayXd>(tape.hidden[k] + r * kWidth, kWidth);
                    inverse = std::max(inverse, 1 / std::sqrt((x - x.mean()).square().mean() + 1e-5));
                }
                near("norm_gain", k, gamma * inverse);
                near("norm_gain_eps", k, gamma / std::sqrt(1e-5));
                const double inner = half == 0 ? value + scores : ffn;
                near("sublayer", k, 1 + 0.6 * inner * gamma * inverse);
                near("sublayer_eps", k, 1 + 0.6 * inner * gamma / std::sqrt(1e-5));
                product *= 1 + 0.6 * inner * gamma * inverse;
                product_eps *= 1 + 0.6 * inner * gamma / std::sqrt(1e-5);
            }
            near("layer", l, product);
            near("layer_eps", l, product_eps);
            const double G = top(wq) * top(wk) * top(wv) * top(wo), stream = longest(tape.hidden[2 * l]);
            near("projection", l, G);
            near("theta_over_tau", l, theta / 1.3);
            near("input_norm", l, B);
            near("stream_norm", l, stream);
            near("proxy_input", l, theta / 1.3 * B * B * G);
            near("proxy_stream", l, theta / 1.3 * stream * stream * G);
        }
        QVERIFY(result.labels.at("measured") == std::vector<std::string>{"all layers"});
    }

    /// Schemes, layouts, gates, learned scales, norm kinds, grouped heads, positions, norms on q and k.
    void noProductIsAboveItsBound_data() {
        QTest::addColumn<int>("scheme");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            QTest::addRow("%s", word_of(static_cast<Scheme>(scheme))) << scheme;
    }
    void noProductIsAboveItsBound() {
        QFETCH(int, scheme);
        unsigned seed = 10 * static_cast<unsigned>(scheme);
        for (const Layout layout : {Layout::Serial, Layout::Parallel})
            for (int gate = -1; gate <= static_cast<int>(GateSite::Branch); ++gate) {
                StackSpec spec = stack_of(static_cast<Scheme>(scheme));
                spec.layout = layout;
                spec.gpas.enabled = gate >= 0;
                if (gate >= 0) spec.gpas.site = static_cast<GateSite>(gate);
                spec.branch_scale = static_cast<BranchScale>(seed % 3);
                spec.branch_scale_init = 0.8;
                spec.causal = seed % 2 == 0;
                if (seed % 4 == 1) spec.norm.kind = NormKind::RmsNorm;
                if (seed % 3 == 0) spec.activation = seed % 2 ? Activation::GeGlu : Activation::SwiGlu;
                if (seed % 11 < 4) spec.head_width = seed % 11 < 2 ? 6 : 2;
                spec.rope_global_every = seed % 2 ? 2 : 1;
                if (seed % 5 == 2) spec.position = Position::Rope;
                if (seed % 7 == 3) spec.kv_heads = 1;
                spec.qk_norm = static_cast<QkNorm>(seed % 6 < 3 ? seed % 6 : 0);
                if (spec.scheme == Scheme::Custom) {
                    spec.layers.resize(1);
                    spec.layers[0].index = 1;
                    spec.layers[0].attn.out = spec.layers[0].ffn.post = spec.layers[0].ffn.out = true;
                    spec.layers[0].attn.a = -1.4;
                    spec.layers[0].ffn.b = 0.3;
                }
                check_never_exceeded(spec, ++seed);
            }
    }

    /// 10,000 directions and the ascent from them, of one attention and one layer.
    void manyDirections() {
        const StackSpec spec = stack_of(Scheme::Post);
        const auto model = model_of<double>(spec, 5);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("lipschitz"), input);
        const Buffer<double> angles;
        const double attention =
            largest_token_gain(model.device(), kTokens, kWidth, branch_map(model, input.tape(), 0, 2, angles),
                               {10000, 3}, {3, "many"});
        const double layer =
            largest_token_gain(model.device(), kTokens, kWidth, sublayer_map(model, input.tape(), 0, 2, 4),
                               {10000, 3}, {3, "many"});
        QVERIFY(attention <= values(result, "attention")[1] && layer <= values(result, "layer")[1]);
        QVERIFY(attention >= 0.99 * values(result, "attention_measured")[1]);
        QVERIFY(layer >= 0.99 * values(result, "layer_measured")[1]);
    }

    /// One ascent for every output token, each to its end, from other directions than the probe's.
    void atLeastAnAscentPerToken() {
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri}) {
            const StackSpec spec = stack_of(scheme);
            const auto model = model_of<double>(spec, 5);
            const Batch batch = batch_of();
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult result = run_probe(*find_probe("lipschitz"), input);
            const Buffer<double> angles;
            for (int k = 0; k < 2 * spec.depth; ++k) {
                const char* name = k % 2 == 0 ? "attention_measured" : "ffn_measured";
                const double all = largest_token_gain(model.device(), kTokens, kWidth,
                                                      branch_map(model, input.tape(), 0, k, angles),
                                                      {kTokens, 12}, {9, "all"});
                const double found = values(result, name)[static_cast<std::size_t>(k / 2)];
                QVERIFY2(found >= 0.95 * all,
                         qPrintable(QString("%1 %2: %3 of %4").arg(name).arg(k / 2).arg(found).arg(all)));
            }
        }
    }

    /// Where queries are their bias the form without it is exceeded; the corrected one is not.
    void theQueryBiasCounts() {
        const StackSpec spec = stack_of(Scheme::None);
        auto model = model_of<double>(spec);
        // All scores alike, on a channel that no token has and to which they respond through b_Q alone.
        for (const TensorInfo& t : model.table().tensors())
            for (std::size_t i = 0; i < t.count; ++i) {
                double& w = model.parameters()[t.offset + i];
                const bool first = i % kWidth == 0;
                if (t.name.ends_with("attn.wq")) w = 0;
                if (t.name.ends_with("attn.bq")) w = 10;
                if (t.name.ends_with("attn.wk")) w = first ? 1 : 0;
                if (t.name.ends_with("_emb") && first) w = 0;
            }
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("lipschitz"), input);
        const double found = values(result, "attention_measured")[0];
        QVERIFY2(found > values(result, "attention_paper")[0],
                 qPrintable(QString("%1 %2").arg(found).arg(values(result, "attention_paper")[0])));
        QVERIFY(found <= values(result, "attention")[0]);
    }

    /// In an emulated precision the bounds are those of the same weights without rounding.
    void emulatedPrecisionIsMeasuredExactly() {
        auto model = model_of<float>(stack_of(Scheme::Pre));
        model.set_rounding(Rounding::Bf16);
        const auto weights = model.host_parameters();
        const std::vector<float> kept(weights.begin(), weights.end());
        Buffer<float> on_device;
        on_device.upload(model.device(), kept);
        model.set_parameters({on_device.data(), on_device.size()});
        auto exact = model;
        exact.set_rounding(Rounding::None);
        const Batch batch = batch_of();
        ProbeInput<float> rounded(model, batch, pool_, 0), plain(exact, batch, pool_, 0);
        const ProbeResult a = run_probe(*find_probe("lipschitz"), rounded),
                          b = run_probe(*find_probe("lipschitz"), plain);
        for (const NamedArray& array : a.arrays)
            QVERIFY2(array.data == values(b, array.name), array.name.c_str());
    }

    void aWideStackIsSearchedInPart() {
        StackSpec spec = stack_of(Scheme::Pre);
        spec.depth = 24;
        spec.d_model = 768;
        spec.d_ff = 3072;
        spec.context = 1024;
        const LipschitzPlan wide = plan_lipschitz(probe_shape(spec, 8, 1));
        QVERIFY(wide.layers.size() == 1 && wide.effort.starts == 1);
        spec.d_model = 64;
        spec.d_ff = 256;
        spec.context = 64;
        spec.depth = 12;
        const LipschitzPlan small = plan_lipschitz(probe_shape(spec, 8, 1));
        QVERIFY(small.layers.size() == 12 && small.effort.sweeps == 6 && small.operations < 1.8e11);
    }
};

NORMSCOPE_TEST(LipschitzTest)
#include "lipschitz_test.moc"
