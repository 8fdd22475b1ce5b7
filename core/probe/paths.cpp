// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/paths.h"

#include "core/model/scratch_slots.h"
#include "core/probe/bounds/matrix_norms.h"
#include "core/probe/interface/row_sample.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace normscope {

namespace {

constexpr int kRowsInPiece = 512;  ///< tokens of all directions of a call

/// Row r of `rows` [size, size] becomes J·(row r), J the Jacobian of one layer.
void map_rows(const Transformer<double>& model, const Tape<double>& tape, int layer,
              std::vector<double>& rows, ThreadPool& pool, const std::function<void()>& check) {
    const int size = tape.length * model.spec().d_model, piece = std::max(1, kRowsInPiece / tape.length);
    pool.run((size + piece - 1) / piece, [&](int i) {
        check();
        const int first = i * piece, directions = std::min(piece, size - first);
        const auto count = static_cast<std::size_t>(directions) * static_cast<std::size_t>(size);
        double* const at = rows.data() + static_cast<std::size_t>(first) * static_cast<std::size_t>(size);
        double* const vectors = model.device().scratch_of<double>(kJacobianRows, count);
        model.device().upload(vectors, at, count * sizeof(double));
        model.tangent(tape, 0, 2 * layer, 2 * layer + 2, 0, directions, Jacobian::Backprop, vectors);
        model.device().download(at, vectors, count * sizeof(double));
    });
}

}  // namespace

template <class T>
ProbeResult probe_paths(ProbeInput<T>& input) {
    input.use_tangents();
    const StackSpec& s = input.model.spec();
    const auto D = static_cast<std::size_t>(s.depth);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> whole(D, nan), first_order(D, nan), remainder(D, nan);
    const int tokens = std::min(input.batch.length, kPathsSize / s.d_model);
    const auto check = [&input] { input.check_cancelled(); };
    if (tokens > 0) {
        const Transformer<double> model(input.model, 0, s.depth, true);
        Batch first = input.batch.part(0, 1, tokens);
        first.targets.clear();
        Tape<double> tape;
        model.forward(first, tape, input.pool);
        const auto size = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(s.d_model);
        std::vector<double> identity(size * size, 0.0);
        for (std::size_t i = 0; i < size; ++i) identity[i * size + i] = 1;
        // Rows are images of unit vectors: transposes, of the same norms.
        std::vector<double> product = identity, sum(size * size, 0.0), rest(size * size);
        for (int layer = 0; layer < s.depth; ++layer) {
            std::vector<double> one = identity;
            map_rows(model, tape, layer, one, input.pool, check);
            map_rows(model, tape, layer, product, input.pool, check);
            for (std::size_t i = 0; i < size * size; ++i) {
                sum[i] += one[i] - identity[i];
                rest[i] = product[i] - identity[i] - sum[i];
            }
            const std::pair<const std::vector<double>*, double*> norms[] = {
                {&product, &whole[static_cast<std::size_t>(layer)]},
                {&sum, &first_order[static_cast<std::size_t>(layer)]},
                {&rest, &remainder[static_cast<std::size_t>(layer)]}};
            const int n = static_cast<int>(size);
            input.pool.run(3, [&](int i) {
                *norms[i].second = matrix_norms(n, n, norms[i].first->data(), n, check).spectral;
            });
        }
    }
    ProbeResult result;
    result.arrays.push_back({"whole", {D}, std::move(whole), {"layer"}, "1"});
    result.arrays.push_back({"first_order", {D}, std::move(first_order), {"layer"}, "1"});
    result.arrays.push_back({"remainder", {D}, std::move(remainder), {"layer"}, "1"});
    result.labels["tokens"] = {tokens > 0 ? "first " + std::to_string(tokens) + " of sequence 0"
                                          : "none: d_model above " + grouped(kPathsSize)};
    result.labels["sampled"] = {"1 sequence"};
    return result;
}
template ProbeResult probe_paths<float>(ProbeInput<float>&);
template ProbeResult probe_paths<double>(ProbeInput<double>&);

namespace {

/// Two Jacobians a layer in float64, each n·d directions through n tokens, and three norms of dense matrices.
double paths_operations(const ProbeShape& s) {
    if (s.d_model > kPathsSize) return 0;
    const double tokens = std::min(s.length, kPathsSize / s.d_model), size = tokens * s.d_model;
    return s.depth * (8 * size * tokens * (s.layer_weights() + 2 * tokens * s.d_q) + 400 * size * size);
}

}  // namespace

ProbeInfo paths_probe() {
    const std::vector<Axis> layers{axis::layer};
    return {"paths",
            "Paths",
            "Π(I + J_k) = I + Σ J_k + R",
            "[E] Theorem 5.4",
            ProbeNeeds::Tangents,
            ProbeCost::Expensive,
            paths_operations,
            probe_paths<float>,
            probe_paths<double>,
            {{"whole", layers, "‖Π(I + J_k)‖₂ over the layers up to this one", kMayBeNan | kWhole},
             {"first_order", layers, "‖Σ J_k‖₂", kMayBeNan | kWhole},
             {"remainder", layers, "‖Π(I + J_k) − I − Σ J_k‖₂", kMayBeNan | kWhole}},
            {{"tokens", "the tokens of the maps"}},
            false};
}

}  // namespace normscope
