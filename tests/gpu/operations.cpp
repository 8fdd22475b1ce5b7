// SPDX-License-Identifier: GPL-3.0-or-later
// operations card | check | time: on the first CUDA card, one JSON object a line. Built and run by
// tests/gpu/run.
//   card   its line; exit status 3, with one line on stderr, where there is none
//   check  every operation in float32 and float64 against the emulated grid in float64, GEMM in each format
//          (gemm_formats.h); exit status 1 for an error above its bound or for other bits in a second call
//   time   milliseconds an operation
#include "core/backend/plugin/load_cuda.h"
#include "core/base/error.h"
#include "tests/backend/attention_operations.h"
#include "tests/backend/tiled_attention_case.h"
#include "tests/gpu/gemm_formats.h"
#include "tests/gpu/grid_device.h"

#include <chrono>
#include <cstdio>

using namespace normscope;
using namespace normscope::device_side;

namespace {

constexpr int kNoCard = 3;

/// The bounds of operations.h are of the host's exp and log, which are rounded better than a GPU's (CUDA C++
/// Programming Guide, "Mathematical Functions": up to 2 ulp in float32), and of GEMM in one order.
double allowed(double epsilons) {
    return 4 * epsilons;
}

bool report(const char* name, const char* type, double error, double most, bool same) {
    const bool good = same && error <= most;
    std::printf(
        "{\"operation\": \"%s\", \"type\": \"%s\", \"error_in_epsilon\": %s%.4g%s, \"allowed\": %g, "
        "\"same_bits\": %s, \"passed\": %s}\n",
        name, type, std::isfinite(error) ? "" : "\"", error, std::isfinite(error) ? "" : "\"", most,
        same ? "true" : "false", good ? "true" : "false");
    std::fflush(stdout);
    return good;
}

/// In units of `unit` where it is not 0, else of T's machine epsilon.
template <class T, class Call>
bool passes(Device& gpu, const char* name, double multiple, const Outputs& reference, const Call& call,
            Rounding rounding = Rounding::None, double unit = 0) {
    Outputs runs[2];
    for (Outputs& run : runs) {
        Side<T> side(gpu, rounding, PrecisionPolicy::Autocast);
        run = call(side);
    }
    const double error = error_of<T>(runs[0], reference) *
                         (unit > 0 ? static_cast<double>(std::numeric_limits<T>::epsilon()) / unit : 1.0);
    const std::string type = std::string(rounding == Rounding::None   ? "float"
                                         : rounding == Rounding::Bf16 ? "bf16 autocast in float"
                                                                      : "fp16 autocast in float") +
                             std::to_string(8 * sizeof(T));
    return report(name, type.c_str(), error, allowed(multiple), same_bits(runs[0], runs[1]));
}

int check(Device& gpu) {
    int failures = 0;
    gpu_test::GridDevice grid;
    const auto verify = [&](const char* name, const Allowed& bound, auto&& call) {
        Side<double> side(grid);
        const Outputs reference = call(side);
        failures += !passes<float>(gpu, name, bound.epsilons, reference, call);
        failures += !passes<double>(gpu, name, bound.epsilons, reference, call);
    };
    operations::all(verify);
    for (const auto& given : operations::kAttentionCases) operations::attention(verify, given);
    std::vector<operations::NamedTiledCase> tiled(std::begin(operations::kTiledCases),
                                                  std::end(operations::kTiledCases));
    tiled.push_back({"1024 tokens, head 64", {64, 1, 1, 1024, true, 1, 512}});
    for (const auto& [name, given] : tiled) {
        const auto call = [&shape = given](auto& side) { return operations::all_of(side, shape); };
        const std::string title = std::string("tiled attention, ") + name;
        Side<double> side(grid);
        const Outputs reference = call(side);
        failures += !passes<float>(gpu, title.c_str(), 20, reference, call);
        failures += !passes<float>(gpu, title.c_str(), 6, reference, call, Rounding::Bf16, 1.0 / 128);
        failures += !passes<float>(gpu, title.c_str(), 6, reference, call, Rounding::Fp16, 1.0 / 1024);
    }
    gpu_test::check_gemm_formats(
        gpu, [&](const std::string& name, const gpu_test::GemmFormat& format, double error, double most,
                 bool same) { failures += !report(name.c_str(), format.name, error, most, same); });
    return failures == 0 ? 0 : 1;
}

/// Median of 20 times of 10 calls each.
template <class Call>
void time_of(Device& gpu, const char* what, double bytes, double flops, const Call& call) {
    call();
    gpu.synchronize();
    std::vector<double> times;
    for (int k = 0; k < 20; ++k) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 10; ++i) call();
        gpu.synchronize();
        times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 10);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    std::printf("{\"operation\": \"%s\", \"ms\": %.5f, \"gb_per_s\": %.1f, \"tflop_per_s\": %.3f}\n", what,
                times[10] * 1e3, bytes / times[10] * 1e-9, flops / times[10] * 1e-12);
    std::fflush(stdout);
}

/// 8 sequences of 256 tokens, width 768, 12 heads; vocabulary 8192.
template <class T>
void times(Device& gpu, const char* type) {
    Side<T> s(gpu);
    constexpr int sequences = 8, length = 256, R = sequences * length, d = 768, wide = 4 * d, heads = 12,
                  V = 8192;
    const auto named = [&](const char* operation) { return std::string(operation) + " " + type; };
    const auto of = [](int rows, int columns) { return area(rows, columns); };
    const double entries = double(R) * d * sizeof(T), product = 2.0 * R * d * wide;
    auto *x = s.in(drawn(of(R, d), 1)), *y = s.out(of(R, d)), *h = s.in(drawn(of(R, wide), 2)),
         *a = s.out(of(R, wide)), *slope = s.out(of(R, wide)), *W = s.in(drawn(of(wide, d), 3, 0.05)),
         *bias = s.in(drawn(wide, 4)), *dW = s.out(of(wide, d)), *gamma = s.in(drawn(d, 5)),
         *sums = s.in(drawn(d, 6)), *dbeta = s.in(drawn(d, 7));
    const double weights = double(wide) * d * sizeof(T);
    time_of(gpu, named("linear").c_str(), 5 * entries + weights, product, [&] {
        s.layers.linear(R, wide, d, x, {W, nullptr, bias}, a);
    });
    time_of(gpu, named("linear_input_gradient").c_str(), 5 * entries + weights, product,
            [&] { s.layers.linear_input_gradient(R, wide, d, h, W, y); });
    time_of(gpu, named("linear_weight_gradient").c_str(), 5 * entries + weights, product,
            [&] { s.layers.linear_weight_gradient(R, wide, d, h, x, true, dW); });
    const NormRows<T> rows{NormKind::LayerNorm, R, d, x, {s.out(R), s.out(R)}, gamma, nullptr};
    auto* eps = s.scalar_in(1e-5);
    time_of(gpu, named("norm_forward").c_str(), 2 * entries, 0,
            [&] { s.layers.norm_forward(rows, eps, nullptr, y); });
    time_of(gpu, named("norm_vjp").c_str(), 3 * entries, 0,
            [&] { s.layers.norm_vjp(rows, x, nullptr, false, y, sums, dbeta, nullptr, {}); });
    time_of(gpu, named("activation").c_str(), 12 * entries, 0,
            [&] { s.elementwise.activation(Activation::GeluTanh, of(R, wide), h, a, slope); });
    time_of(gpu, named("axpby").c_str(), 3 * entries, 0,
            [&] { s.elementwise.axpby(of(R, d), eps, x, nullptr, x, y); });
    time_of(gpu, named("column_sums").c_str(), entries, 0, [&] { s.layers.column_sums(R, d, x, sums); });

    const AttentionShape shape{d, heads, heads, d / heads, length, true, QkNorm::Off, NormKind::LayerNorm};
    auto *Wqkv = s.in(drawn(of(3 * d, d), 8, 0.05)), *Wo = s.in(drawn(of(d, d), 9, 0.05));
    const AttentionWeights<T> w{
        {Wqkv, nullptr, nullptr}, {Wo, nullptr, nullptr}, nullptr, nullptr, nullptr, eps, s.scalar_in(0.125)};
    const AttentionTape<T> tape{
        s.out(of(R, 3 * d)), nullptr, {}, {}, s.out(of(sequences * heads * length, length)), s.out(of(R, d))};
    const double scores = 4.0 * sequences * length * length * d, projections = 8.0 * R * d * d;
    time_of(gpu, named("attention_forward").c_str(), 0, scores + projections,
            [&] { s.layers.attention_forward(shape, sequences, w, x, tape, y); });
    AttentionGradients<T> g{s.out(of(3 * d, d)), nullptr, s.out(of(d, d)), nullptr, nullptr, nullptr, true};
    auto* du = s.out(of(R, d));
    time_of(gpu, named("attention_vjp").c_str(), 0, 2 * (scores + projections),
            [&] { s.layers.attention_vjp(shape, sequences, 1, w, tape, x, y, du, &g); });

    std::vector<std::int32_t> tokens(static_cast<std::size_t>(R));
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7919 % V);
    auto* at = s.of(tokens);
    auto *logits = s.in(drawn(of(R, V), 10)), *dlogits = s.out(of(R, V)), *losses = s.out(R),
         *table = s.in(drawn(of(V, d), 11)), *one = s.scalar_in(1);
    const double maps = double(R) * V * sizeof(T);
    time_of(gpu, named("cross_entropy").c_str(), 2 * maps, 0,
            [&] { s.elementwise.cross_entropy(R, V, logits, at, one, T(0), losses, dlogits); });
    time_of(gpu, named("embedding_vjp").c_str(), 2 * entries, 0,
            [&] { s.layers.embedding_vjp(sequences, length, d, at, x, V, table, length, nullptr); });
    const std::size_t count = of(V, d);
    const std::vector<ArenaPiece> pieces(1, ArenaPiece{0, count, true});
    auto* arena = s.of(pieces);
    auto* numbers = s.of(std::vector<OptimizerNumbers>{{1e-4, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378}});
    auto *m = s.in(std::vector<double>(count)), *v = s.in(std::vector<double>(count));
    auto* clip = s.number(1);
    time_of(gpu, named("adamw, one piece").c_str(), 7.0 * double(count) * sizeof(T), 0,
            [&] { s.step.adamw(arena, 0, 1, numbers, clip, table, logits, m, v); });
    auto* total = s.number(0);
    time_of(gpu, named("add_squares").c_str(), double(count) * sizeof(T), 0,
            [&] { s.elementwise.add_squares(1, count, 0, table, total); });
}

/// 4 sequences of 1024 tokens, 12 heads of 64: with stored probabilities and in tiles.
void attention_times(Device& gpu, Rounding rounding, const char* type) {
    for (const bool store : {true, false}) {
        Side<float> s(gpu, rounding, PrecisionPolicy::Autocast);
        operations::TiledCase given{64, 12, 12, 1024, true, 4};
        given.store = store;
        operations::TiledSetup<Side<float>> at(s, given);
        const std::string of = std::string(", 1024 tokens, ") + (store ? "stored " : "tiled ") + type;
        const std::size_t hidden = area(given.rows(), at.shape.d);
        float *df = s.in(drawn(hidden, 6)), *du = s.out(hidden);
        // Of the whole maps; a tile beyond the diagonal costs nothing.
        const double scores = 4.0 * given.rows() * given.n * at.shape.d,
                     projections = 8.0 * given.rows() * at.shape.d * at.shape.d;
        time_of(gpu, ("attention_forward" + of).c_str(), 0, scores + projections, [&] {
            s.layers.attention_forward(at.shape, given.sequences, at.weights, at.u, at.tape, at.f);
        });
        time_of(gpu, ("attention_vjp" + of).c_str(), 0, 2 * (scores + projections), [&] {
            s.layers.attention_vjp(at.shape, given.sequences, 1, at.weights, at.tape, at.u, df, du, nullptr);
        });
        float *tu = s.in(drawn(hidden / 4, 7)), *tf = s.out(hidden / 4);
        time_of(gpu, ("attention_jvp" + of).c_str(), 0, (2 * scores + projections) / 4,
                [&] { s.layers.attention_jvp(at.shape, 0, 1, at.weights, at.tape, tu, tf); });
    }
}

/// GEMM with 4096 rows, columns and terms, with the conversion of operands and the rounding of results.
void gemm_times(Device& gpu) {
    constexpr int size = 4096;
    for (const gpu_test::GemmFormat& format : gpu_test::kGemmFormats) {
        Side<float> s(gpu, format.rounding, PrecisionPolicy::Autocast);
        const auto *x = s.in(drawn(area(size, size), 1)), *W = s.in(drawn(area(size, size), 2));
        float* y = s.out(area(size, size));
        time_of(gpu, (std::string("linear 4096x4096x4096 ") + format.name).c_str(), 0,
                2.0 * size * size * size, [&] {
                    s.layers.linear(size, size, size, x, {W, nullptr, nullptr}, y);
                });
    }
}

int run(const std::string& part) {
    const CudaCards& cards = cuda_cards();
    if (cards.count == 0) {
        std::fprintf(stderr, "%s\n", cards.missing.c_str());
        return kNoCard;
    }
    if (part == "card") {
        std::printf("{\"card\": \"%s\"}\n", card_line(cards, 0).c_str());
        return 0;
    }
    Device& gpu = open_card(cards, 0);
    if (part == "check") return check(gpu);
    if (part != "time") throw InputError("operations", part + " is not known", "card, check, time");
    times<float>(gpu, "float32");
    times<double>(gpu, "float64");
    attention_times(gpu, Rounding::None, "float32");
    attention_times(gpu, Rounding::Bf16, "bf16 autocast");
    attention_times(gpu, Rounding::Fp16, "fp16 autocast");
    gemm_times(gpu);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc == 2 ? argv[1] : "");
    } catch (const InputError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
