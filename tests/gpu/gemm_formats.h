// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/operations.h"

#include <array>

// GEMM of a card in each format, under PrecisionPolicy::Autocast, against float64 on the host.

namespace normscope::gpu_test {

using namespace device_side;

struct GemmFormat {
    const char* name;
    Rounding rounding;
    double unit;     ///< distance of neighbours at 1
    double allowed;  ///< of an error, in units, relative to the largest result
};
/// float32: the order of sums. TF32: how cuBLAS rounds operands is not documented, so that the reference does
/// not round them; two operands that lose less than a unit each, and their sum. BF16, FP16: the reference
/// rounds the operands; the result is the nearest or, by the order of sums, its neighbour.
inline constexpr std::array<GemmFormat, 4> kGemmFormats{{{"fp32", Rounding::None, 0x1p-23, 64},
                                                         {"tf32", Rounding::Tf32, 0x1p-10, 4},
                                                         {"bf16", Rounding::Bf16, 0x1p-7, 1},
                                                         {"fp16", Rounding::Fp16, 0x1p-10, 1}}};

inline std::vector<double> to_format(Rounding to, std::vector<double> values) {
    for (double& v : values) v = static_cast<double>(rounded(to, static_cast<float>(v)));
    return values;
}

/// Rows of x [rows, columns] as columns.
inline std::vector<double> transposed(const std::vector<double>& x, int rows, int columns) {
    std::vector<double> result(x.size());
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            result[area(c, rows) + static_cast<std::size_t>(r)] =
                x[area(r, columns) + static_cast<std::size_t>(c)];
    return result;
}
/// a [M, K]·b [N, K]ᵀ.
inline std::vector<double> product(int M, int N, int K, const std::vector<double>& a,
                                   const std::vector<double>& b) {
    std::vector<double> result;
    for (int r = 0; r < M; ++r)
        for (int c = 0; c < N; ++c) {
            double sum = 0;
            for (int k = 0; k < K; ++k)
                sum +=
                    a[area(r, K) + static_cast<std::size_t>(k)] * b[area(c, K) + static_cast<std::size_t>(k)];
            result.push_back(sum);
        }
    return result;
}

/// report(name, format, error in its units, allowed, whether a second call gives the same bits).
template <class Report>
void check_gemm_formats(Device& gpu, const Report& report) {
    struct Size {
        int M, N, K;
    };
    for (const GemmFormat& format : kGemmFormats) {
        const Rounding results = result_rounding(format.rounding);
        const auto compare = [&](const std::string& name, double allowed, const std::vector<double>& expected,
                                 const auto& call) {
            Outputs runs[2];
            for (Outputs& run : runs) {
                Side<float> side(gpu, format.rounding, PrecisionPolicy::Autocast);
                run = {{name, call(side)}};
            }
            const double error = error_of<float>(runs[0], {{name, expected}}) * 0x1p-23 / format.unit;
            report(name, format, error, allowed, same_bits(runs[0], runs[1]));
        };
        for (const Size s : {Size{7, 13, 1}, Size{33, 65, 33}, Size{65, 33, 65}, Size{1, 129, 257}}) {
            const std::string of =
                " " + std::to_string(s.M) + "x" + std::to_string(s.N) + "x" + std::to_string(s.K);
            const auto x = drawn(area(s.M, s.K), 1), w = drawn(area(s.N, s.K), 2),
                       dy = drawn(area(s.M, s.N), 3), bias = drawn(static_cast<std::size_t>(s.N), 4),
                       start = drawn(area(s.N, s.K), 5);
            const auto low_x = to_format(results, x), low_w = to_format(results, w),
                       low_dy = to_format(results, dy), low_bias = to_format(results, bias);
            auto y = product(s.M, s.N, s.K, low_x, low_w);
            for (std::size_t i = 0; i < y.size(); ++i) y[i] += low_bias[i % bias.size()];
            compare("linear" + of, format.allowed, to_format(results, y), [&](auto& side) {
                float* out = side.out(y.size());
                side.layers.linear(s.M, s.N, s.K, side.in(x), {side.in(w), nullptr, side.in(bias)}, out);
                return side.read(out, y.size());
            });
            const auto dx = product(s.M, s.K, s.N, low_dy, transposed(low_w, s.N, s.K));
            compare("linear_input_gradient" + of, format.allowed, to_format(results, dx), [&](auto& side) {
                float* out = side.out(dx.size());
                side.layers.linear_input_gradient(s.M, s.N, s.K, side.in(dy), side.in(w), out);
                return side.read(out, dx.size());
            });
            auto dw = to_format(
                results, product(s.N, s.K, s.M, transposed(low_dy, s.M, s.N), transposed(low_x, s.M, s.K)));
            for (std::size_t i = 0; i < dw.size(); ++i) dw[i] += start[i];
            compare("linear_weight_gradient" + of, format.allowed, dw, [&](auto& side) {
                float* out = side.in(start);
                side.layers.linear_weight_gradient(s.M, s.N, s.K, side.in(dy), side.in(x), false, out);
                return side.read(out, dw.size());
            });
            if (format.rounding != Rounding::Tf32) continue;
            // Operands that are of the format are not rounded, and their products are exact.
            const auto exact_x = to_format(Rounding::Tf32, x), exact_w = to_format(Rounding::Tf32, w);
            compare("linear of TF32 values" + of, 64 * 0x1p-13, product(s.M, s.N, s.K, exact_x, exact_w),
                    [&](auto& side) {
                        float* out = side.out(y.size());
                        side.layers.linear(s.M, s.N, s.K, side.in(exact_x),
                                           {side.in(exact_w), nullptr, nullptr}, out);
                        return side.read(out, y.size());
                    });
        }
        // The ends of FP16, with products that float32 holds exactly: no sum, no tolerance.
        if (results == Rounding::None) continue;
        std::vector<double> edges;
        for (const double v :
             {0.0, 1.0, 0.1, 65504.0, 65519.0, 65520.0, 70000.0, 0x1p-14, 0x1.ff8p-15, 0x1p-24, 0x1p-25,
              0x1.8p-24, 0x1.01p0, 0x1.03p0, double(std::numeric_limits<float>::infinity()),
              double(std::numeric_limits<float>::quiet_NaN())})
            for (const double sign : {1.0, -1.0}) edges.push_back(sign * v);
        const int count = static_cast<int>(edges.size());
        const auto low = to_format(results, edges);
        const auto expected = to_format(results, product(count, count, 1, low, low));
        compare("linear of edges", 0, expected, [&](auto& side) {
            float* out = side.out(expected.size());
            side.layers.linear(count, count, 1, side.in(edges), {side.in(edges), nullptr, nullptr}, out);
            return side.read(out, expected.size());
        });
    }
}

}  // namespace normscope::gpu_test
