// SPDX-License-Identifier: GPL-3.0-or-later
// The spectra of whole-sequence Jacobians, searched and token by token, against LAPACK on the explicit
// matrix, and the probe's arrays against what they are defined as.
#include "core/probe/spectra.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/shared/counter_rng.h"
#include "core/probe/registry.h"
#include "core/probe/spectra/depth_measures.h"
#include "core/probe/spectra/jacobian_map.h"
#include "core/probe/spectra/token_spectrum.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Vector = std::vector<double>;

StackSpec stack_of(Scheme scheme, int depth, int width, int length, bool gpas) {
    StackSpec s;
    s.depth = depth;
    s.d_model = width;
    s.heads = 4;
    s.context = length;
    s.scheme = scheme;
    s.gpas.enabled = gpas;
    s.residual_step = 0.8;
    complete(s, 11);
    return s;
}

/// Gains, biases and gates away from where they start.
template <class T>
Transformer<T> model_of(const StackSpec& spec) {
    Transformer<T> model(spec, 5);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = 0; i < t.count; ++i)
                model.parameters()[t.offset + i] +=
                    static_cast<T>(0.3 * std::sin(static_cast<double>(3 * i + t.offset)));
    return model;
}

Batch batch_of(int length) {
    Batch batch{1, length, {}, {}};
    for (int i = 0; i < length; ++i) {
        batch.tokens.push_back((7 * i * i + 3) % 11);
        batch.targets.push_back((5 * i + 1) % 11);
    }
    return batch;
}

/// The explicit matrix, one pull-back of one cotangent a row.
template <class T>
Vector explicit_jacobian(const Transformer<T>& model, const Tape<T>& tape, int begin, int end,
                         Jacobian kind) {
    const auto size = static_cast<std::size_t>(tape.length * model.spec().d_model);
    Vector matrix(size * size);
    for (std::size_t r = 0; r < size; ++r) {
        std::vector<T> row(size, T(0));
        row[r] = 1;
        model.pull_back(tape, begin, end, kind, row.data());
        std::copy(row.begin(), row.end(), matrix.begin() + static_cast<std::ptrdiff_t>(r * size));
    }
    return matrix;
}

Vector exact_values(const Vector& matrix) {
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    Vector values(size);
    singular_values(static_cast<int>(size), static_cast<int>(size), matrix.data(), values.data());
    return values;
}

QString compare(const Spectrum& s, const Vector& exact, double tolerance) {
    for (std::size_t i = 0; i < s.top.size(); ++i) {
        const double low = exact[exact.size() - 1 - i];
        if (!(std::abs(s.top[i] - exact[i]) <= s.top_error[i]) ||
            !(std::abs(s.top[i] / exact[i] - 1) <= tolerance))
            return QString("top %1: %2 ± %3, exact %4")
                .arg(i)
                .arg(s.top[i])
                .arg(s.top_error[i])
                .arg(exact[i]);
        if (!(std::abs(s.bottom[i] - low) <= s.bottom_error[i]))
            return QString("bottom %1: %2 ± %3, exact %4")
                .arg(i)
                .arg(s.bottom[i])
                .arg(s.bottom_error[i])
                .arg(low);
    }
    return {};
}

LinearMap diagonal(const Vector& values) {
    const auto product = [values](int count, const double* in, double* out) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(count) * values.size(); ++i)
            out[i] = values[i % values.size()] * in[i];
    };
    return {static_cast<int>(values.size()), product, product};
}

/// |first − second| ≤ bar everywhere.
void verify_close(const NamedArray& values, const Vector& exact, double tolerance) {
    QCOMPARE(values.data.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i)
        QVERIFY2(
            std::abs(values.data[i] - exact[i]) <= tolerance * std::abs(exact[0]),
            qPrintable(
                QString("%1[%2]: %3, %4").arg(values.name.c_str()).arg(i).arg(values.data[i]).arg(exact[i])));
}

}  // namespace

class SpectraTest : public QObject {
    Q_OBJECT
    ThreadPool pool{2};

  private Q_SLOTS:
    void againstTheExplicitMatrix_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("length");
        QTest::addColumn<bool>("gpas");
        for (Scheme scheme : {Scheme::None, Scheme::Post, Scheme::Pre, Scheme::Peri, Scheme::DeepNorm})
            for (int length : {5, 20, 32})
                for (bool gpas : {false, true})
                    QTest::addRow("%s %d%s", word_of(scheme), 16 * length, gpas ? " gpas" : "")
                        << static_cast<int>(scheme) << length << gpas;
    }
    void againstTheExplicitMatrix() {
        QFETCH(int, scheme);
        QFETCH(int, length);
        QFETCH(bool, gpas);
        const auto model = model_of<double>(stack_of(static_cast<Scheme>(scheme), 2, 16, length, gpas));
        Tape<double> tape;
        model.forward(batch_of(length), tape, pool);
        const int ranges[][2] = {{0, 4}, {2, 4}, {2, 3}, {3, 4}};
        for (Jacobian kind : {Jacobian::Backprop, Jacobian::Forward}) {
            if (kind == Jacobian::Forward && !gpas) continue;
            for (const auto& [begin, end] : ranges) {
                const Vector exact = exact_values(explicit_jacobian(model, tape, begin, end, kind));
                const LinearMap map = jacobian_map(model, tape, 0, begin, end, kind, pool);
                const Spectrum s = block_lanczos(map, {}, pool);
                QVERIFY(s.converged);
                QCOMPARE(compare(s, exact, 1e-6), QString());
                QCOMPARE(compare(dense_spectrum(map, {}), exact, 1e-12), QString());
                if (begin == 3 && kind == Jacobian::Backprop) {
                    QVERIFY(token_by_token(model.spec(), begin, length));
                    const Spectrum tokens = token_spectrum(model, tape, 0, begin, 16, pool, {});
                    QVERIFY(tokens.complete);
                    QCOMPARE(compare(tokens, exact, 1e-12), QString());
                }
            }
        }
    }

    /// In float32 the bars cover the products' round-off; the tape's own moves the values further.
    void float32() {
        const StackSpec spec = stack_of(Scheme::Pre, 2, 16, 20, false);
        const auto model = model_of<float>(spec);
        const auto reference = model_of<double>(spec);
        Tape<float> tape;
        Tape<double> reference_tape;
        model.forward(batch_of(20), tape, pool);
        reference.forward(batch_of(20), reference_tape, pool);
        const Vector exact = exact_values(explicit_jacobian(model, tape, 0, 4, Jacobian::Backprop));
        const Vector other =
            exact_values(explicit_jacobian(reference, reference_tape, 0, 4, Jacobian::Backprop));
        const LinearMap map = jacobian_map(model, tape, 0, 0, 4, Jacobian::Backprop, pool);
        for (const Spectrum& s : {block_lanczos(map, {}, pool), dense_spectrum(map, {})}) {
            QCOMPARE(compare(s, exact, 1e-6), QString());
            for (std::size_t i = 0; i < 16; ++i) QVERIFY(std::abs(s.top[i] - other[i]) < 1e-4 * other[0]);
        }
    }

    /// Every token of a Post-LN map loses two directions (γ = 1 or not): n·d − 2n directions are left.
    void postNormIsRankDeficient() {
        auto spec = stack_of(Scheme::Post, 2, 16, 6, false);
        spec.norm.eps = 1e-12;
        const auto model = model_of<double>(spec);
        Tape<double> tape;
        model.forward(batch_of(6), tape, pool);
        const LinearMap map = jacobian_map(model, tape, 0, 0, 4, Jacobian::Backprop, pool);
        for (const Spectrum& s : {dense_spectrum(map, {}), block_lanczos(map, {.tolerance = 1e-15}, pool),
                                  block_lanczos(map, {.max_dimension = 64}, pool)})
            for (std::size_t i = 0; i < 16; ++i) {
                if (i < 12)
                    QVERIFY(s.bottom[i] - s.bottom_error[i] <= 1e-10);  // the bar reaches the null space
                if (s.complete) QCOMPARE(s.bottom[i] < 1e-8 * s.top[0], i < 12);
            }
    }

    void sameBitsOnAnyNumberOfThreads() {
        const auto model = model_of<float>(stack_of(Scheme::Peri, 2, 16, 40, false));
        ThreadPool one(1), three(3);
        const Batch batch = batch_of(40);
        ProbeInput<float> a(model, batch, one, 0), b(model, batch, three, 0);
        const ProbeResult first = probe_spectra(a), second = probe_spectra(b);
        QCOMPARE(first.arrays.size(), second.arrays.size());
        for (std::size_t i = 0; i < first.arrays.size(); ++i)
            QVERIFY(first.arrays[i].data == second.arrays[i].data);
    }

    /// Small (explicit) and larger (searched) sequences; every array by its definition.
    void probe_data() {
        QTest::addColumn<int>("length");
        QTest::newRow("dense") << 9;
        QTest::newRow("searched") << 36;
        QTest::newRow("a few values") << 1;
    }
    void probe() {
        QFETCH(int, length);
        constexpr int kDepth = 3, kWidth = 12;
        const auto model = model_of<double>(stack_of(Scheme::Peri, kDepth, kWidth, length, false));
        const Batch batch = batch_of(length);
        ProbeInput<double> input(model, batch, pool, 0);
        const ProbeResult result = probe_spectra(input);
        const auto k = static_cast<std::size_t>(std::min(16, length * kWidth));
        const auto rows = [&](int count, int step) {
            Vector all;
            for (int i = 0; i < count; ++i) {
                const Vector exact = exact_values(
                    explicit_jacobian(model, input.tape(), i * step, (i + 1) * step, Jacobian::Backprop));
                all.insert(all.end(), exact.begin(), exact.begin() + static_cast<std::ptrdiff_t>(k));
            }
            return all;
        };
        const auto at = [&](const char* name) -> const NamedArray& { return *result.find(name); };
        const std::vector<std::size_t> sublayers{2 * kDepth, k}, layers{kDepth, k};
        QCOMPARE(at("sublayer_top").shape, sublayers);
        QCOMPARE(at("layer_top").shape, layers);
        QCOMPARE(at("sublayer_top_error").shape, sublayers);
        verify_close(at("sublayer_top"), rows(2 * kDepth, 1), 1e-6);
        verify_close(at("layer_top"), rows(kDepth, 2), 1e-6);
        verify_close(at("end_to_end_top"), rows(1, 2 * kDepth), 1e-6);
        const Vector exact =
            exact_values(explicit_jacobian(model, input.tape(), 0, 2 * kDepth, Jacobian::Backprop));
        verify_close(at("end_to_end_bottom"),
                     Vector(exact.rbegin(), exact.rbegin() + static_cast<std::ptrdiff_t>(k)), 1e-9);

        double gain = exact[0];
        for (std::size_t l = 0; l < kDepth; ++l) {
            const Vector jacobian = explicit_jacobian(model, input.tape(), 2 * static_cast<int>(l),
                                                      2 * static_cast<int>(l) + 2, Jacobian::Backprop);
            double squares = 0;
            for (double x : jacobian) squares += x * x;
            const double top = exact_values(jacobian)[0], error = at("stable_rank_error").data[l];
            QVERIFY(std::abs(at("stable_rank").data[l] - squares / (top * top)) <=
                    5 * error + 1e-9 * squares);
            QCOMPARE(error == 0, length * kWidth <= 256);
            gain /= top;
        }
        QVERIFY(std::abs(at("product_gain").data[0] / gain - 1) < 1e-5);
        QCOMPARE(at("alignment").shape, std::vector<std::size_t>{kDepth - 1});
        for (double a : at("alignment").data) QVERIFY(a >= 0 && a <= 1 + 1e-12);
        QCOMPARE(at("lyapunov").shape, std::vector<std::size_t>{k});
        if (k == static_cast<std::size_t>(length * kWidth)) {  // all directions: volumes multiply by |det J|
            double sum = 0, logarithms = 0;
            for (double x : at("lyapunov").data) sum += kDepth * x;
            for (double x : exact) logarithms += std::log(x);
            QVERIFY(std::abs(sum - logarithms) < 1e-9 * std::abs(logarithms));
        }
    }

    void oneLayerHasNoAlignment() {
        const auto model = model_of<double>(stack_of(Scheme::Pre, 1, 8, 3, false));
        const Batch batch = batch_of(3);
        ProbeInput<double> input(model, batch, pool, 0);
        const ProbeResult result = probe_spectra(input);
        QVERIFY(!result.find("alignment"));
        QVERIFY(std::abs(result.find("product_gain")->data[0] - 1) < 1e-9);
    }

    void aDivergedModelGivesNaN() {
        auto model = model_of<double>(stack_of(Scheme::Pre, 2, 16, 20, false));
        model.parameters()[model.table().attention[0].wo] = std::numeric_limits<double>::quiet_NaN();
        const Batch batch = batch_of(20);
        ProbeInput<double> input(model, batch, pool, 0);
        const ProbeResult result = probe_spectra(input);
        for (const NamedArray& array : result.arrays)
            if (array.name.rfind("end_to_end", 0) == 0 || array.name == "product_gain" ||
                array.name == "lyapunov")
                for (double x : array.data) QVERIFY2(std::isnan(x), array.name.c_str());
    }

    void cancelled() {
        const auto model = model_of<float>(stack_of(Scheme::Pre, 2, 16, 40, false));
        const Batch batch = batch_of(40);
        std::atomic<bool> cancel = false;
        ProbeInput<float> input(model, batch, pool, 0, &cancel);
        input.tape();
        cancel = true;
        QVERIFY_EXCEPTION_THROWN(probe_spectra(input), Cancelled);
    }

    void notAmongTheDefaults() { QVERIFY(find_probe("spectra") && !find_probe("spectra")->by_default); }

    // --- depth measures, closed forms

    void stableRankOfADiagonal() {
        const Spectrum s = dense_spectrum(diagonal({2, 1, 1, 0}), {.frobenius = true});
        QVERIFY(std::abs(stable_rank(s).value - 1.5) < 1e-14);
        QCOMPARE(stable_rank(s).error, 0.0);
        const Spectrum one = dense_spectrum(diagonal({3, 3, 3}), {.frobenius = true});
        QVERIFY(std::abs(stable_rank(one).value - 3) < 1e-14);
    }

    /// A map whose longest image is 3·e₂ (of e₁) feeds one that stretches the direction (cos φ, sin φ) most.
    void alignmentIsACosine() {
        const auto forth = [](int count, const double* in, double* out) {
            for (int i = 0; i < count; ++i) {
                out[2 * i] = -in[2 * i + 1];
                out[2 * i + 1] = 3 * in[2 * i];
            }
        };
        const auto back = [](int count, const double* in, double* out) {
            for (int i = 0; i < count; ++i) {
                out[2 * i] = 3 * in[2 * i + 1];
                out[2 * i + 1] = -in[2 * i];
            }
        };
        const LinearMap rotated{2, forth, back};
        for (double angle : {0.0, 0.4, M_PI / 2}) {
            const double c = std::cos(angle), s = std::sin(angle);
            const auto product = [=](int count, const double* in, double* out) {  // I + 4·ppᵀ
                for (int i = 0; i < count; ++i) {
                    const double along = c * in[2 * i] + s * in[2 * i + 1];
                    out[2 * i] = in[2 * i] + 4 * c * along;
                    out[2 * i + 1] = in[2 * i + 1] + 4 * s * along;
                }
            };
            const LinearMap stretched{2, product, product};
            const SpectrumOptions options{.vectors = true};
            QVERIFY(std::abs(alignment(dense_spectrum(rotated, options), dense_spectrum(stretched, options)) -
                             s) < 1e-14);
            QVERIFY(std::abs(alignment(block_lanczos(rotated, options, pool),
                                       block_lanczos(stretched, options, pool)) -
                             s) < 1e-14);
        }
    }

    void productGainOfMaps() {
        QVERIFY(std::abs(product_gain(6, std::vector<double>{2, 3}) - 1) < 1e-14);
        QVERIFY(std::abs(product_gain(1, std::vector<double>{2, 4}) - 0.125) < 1e-14);
        const std::vector<double> large(400, 1e10);  // their product is beyond float64
        QVERIFY(std::abs(std::log(product_gain(1e300, large)) + 3700 * std::log(10.0)) < 1e-6 ||
                product_gain(1e300, large) == 0);
    }

    void lyapunovOfDiagonalLayers() {
        const Vector rates{1.6, 1.1, 0.7, 0.2};
        std::vector<LinearMap> layers;
        for (int l = 0; l < 400; ++l) {  // rates that alternate about their mean
            Vector values;
            for (double rate : rates) values.push_back(std::exp(rate + (l % 2 ? 0.1 : -0.1)));
            layers.push_back(diagonal(values));
        }
        const Vector exponents = lyapunov_exponents(layers, 4, 0, pool).values;
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(std::abs(exponents[i] - rates[i]) < 0.02);
        const double sum = exponents[0] + exponents[1] + exponents[2] + exponents[3];
        QVERIFY(std::abs(sum - 3.6) < 1e-12);  // of all exponents: ln |det|, whatever the start
        const std::vector<LinearMap> scaled(5, diagonal(Vector(50, 0.3)));
        for (double x : lyapunov_exponents(scaled, 7, 1, pool).values)
            QVERIFY(std::abs(x - std::log(0.3)) < 1e-12);
        const Vector lost =
            lyapunov_exponents(std::vector<LinearMap>{diagonal({2, 0, 0})}, 3, 0, pool).values;
        QVERIFY(std::isfinite(lost[0]) && std::isinf(lost[1]) && lost[1] < 0 && std::isinf(lost[2]));
    }

    /// Exponent i is ln σ_i(J_D ⋯ J_1)/D, whatever the start, to its own error.
    void lyapunovAgreesWithTheSingularValues_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("depth");
        QTest::newRow("random maps") << -1 << 6;
        for (Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri})
            for (int depth : {2, 6})
                QTest::addRow("%s %d", word_of(scheme), depth) << static_cast<int>(scheme) << depth;
    }
    void lyapunovAgreesWithTheSingularValues() {
        QFETCH(int, scheme);
        QFETCH(int, depth);
        constexpr int kLength = 10, kWidth = 16, kSize = kLength * kWidth, kCount = 8;
        const auto model = model_of<double>(
            stack_of(scheme < 0 ? Scheme::Pre : static_cast<Scheme>(scheme), depth, kWidth, kLength, false));
        Tape<double> tape;
        model.forward(batch_of(kLength), tape, pool);
        std::vector<LinearMap> maps;
        std::vector<Vector> matrices;
        Vector whole;
        for (int l = 0; l < depth; ++l) {
            Vector matrix = explicit_jacobian(model, tape, 2 * l, 2 * l + 2, Jacobian::Backprop);
            if (scheme < 0)
                fill_normal_row(NormalKey(7, "lyapunov test"), static_cast<std::uint64_t>(l), 0,
                                matrix.size(), 1 / std::sqrt(kSize), matrix.data());
            if (l == 0) {
                whole = matrix;
            } else {
                Vector product(matrix.size());
                matmul_nn<double>(kSize, kSize, kSize, 1, matrix.data(), kSize, whole.data(), kSize, 0,
                                  product.data(), kSize);
                whole = product;
            }
            matrices.push_back(std::move(matrix));
        }
        for (const Vector& matrix : matrices)
            maps.push_back({kSize,
                            [&matrix](int count, const double* in, double* out) {
                                matmul_nt<double>(count, kSize, kSize, 1, in, kSize, matrix.data(), kSize, 0,
                                                  out, kSize);
                            },
                            [&matrix](int count, const double* in, double* out) {
                                matmul_nn<double>(count, kSize, kSize, 1, in, kSize, matrix.data(), kSize, 0,
                                                  out, kSize);
                            }});
        const Vector exact = exact_values(whole);
        for (std::uint64_t seed : {0, 1, 2}) {
            const LyapunovExponents found = lyapunov_exponents(maps, kCount, seed, pool);
            for (std::size_t i = 0; i < kCount; ++i) {
                const double rate = std::log(exact[i]) / depth;
                QVERIFY2(std::abs(found.values[i] - rate) <= found.errors[i] && found.errors[i] <= 0.01,
                         qPrintable(QString("%1: %2 ± %3, exact %4")
                                        .arg(i)
                                        .arg(found.values[i])
                                        .arg(found.errors[i])
                                        .arg(rate)));
            }
        }
    }
};

NORMSCOPE_TEST(SpectraTest)
#include "spectra_test.moc"
