// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/precision/fragility.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/model/residual_sum.h"
#include "core/model/scratch_slots.h"
#include "core/probe/bounds/matrix_norms.h"
#include "core/theory/fragility.h"
#include "core/theory/norm_precision.h"
#include "core/theory/softmax_norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace normscope {

namespace {

/// max that keeps NaN.
void raise(double& most, double value) {
    if (!(value <= most)) most = value;
}

double squares_of(std::span<const double> values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

template <class T>
double squares_of(const HostView<T>& values) {
    double sum = 0;
    for (const T value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return sum;
}

/// [rows, columns] of a matrix whose rows are `stride` apart.
template <class T>
std::vector<double> widened(const T* from, std::size_t rows, std::size_t columns, std::size_t stride) {
    std::vector<double> to;
    to.reserve(rows * columns);
    for (std::size_t r = 0; r < rows; ++r)
        to.insert(to.end(), from + r * stride, from + r * stride + columns);
    return to;
}

/// ‖W‖₂ and σ_max/(σ_min + ridge) of a dense [rows, columns] matrix.
struct Condition {
    double norm, number;
};
Condition condition_of(int rows, int columns, const std::vector<double>& matrix, double ridge) {
    std::vector<double> values(static_cast<std::size_t>(std::min(rows, columns)));
    singular_values(rows, columns, matrix.data(), values.data());
    return {values.front(), values.front() / (values.back() + ridge)};
}

/// One head over all sequences. Its sizes are squares until the heads are joined.
struct HeadNumbers {
    double kappa_score = 0, kappa_softmax = 0, kappa_v = 0;
    AttentionSizes squares;  ///< Frobenius norms squared; values and row_norm as they are
};

/// Row by row ‖J(p)‖₂ and ‖J(p)‖₂·‖S_i‖₂/‖p_i‖₂. J is at most diag p and at most ½: rows that cannot be the
/// largest of either are skipped, since solving for the norm takes most of the probe's time.
void add_rows(std::size_t n, bool causal, const std::vector<double>& p, const std::vector<double>& s,
              HeadNumbers& to) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t keys = causal ? i + 1 : n;
        const std::span<const double> row(p.data() + i * n, keys), scores(s.data() + i * n, keys);
        const double ratio = std::sqrt(squares_of(scores) / squares_of(row));
        const double at_most = std::min(0.5, *std::max_element(row.begin(), row.end()));
        if (at_most <= to.squares.row_norm && at_most * ratio <= to.kappa_softmax) continue;
        const bool finite = std::isfinite(ratio);
        const double norm = finite ? softmax_jacobian_norm(row) : kNaN;
        raise(to.squares.row_norm, norm);
        raise(to.kappa_softmax, norm * ratio);
    }
}

template <class T>
HeadNumbers measure_head(const ProbeInput<T>& input, const Tape<T>& tape, std::size_t layer,
                         std::size_t head) {
    const StackSpec& spec = input.model.spec();
    const SublayerTape<T>& attention = tape.sublayers[2 * layer];
    const auto n = static_cast<std::size_t>(tape.length), H = static_cast<std::size_t>(spec.heads),
               d_q = static_cast<std::size_t>(spec.d_q()), d_kv = static_cast<std::size_t>(spec.d_kv()),
               d_head = static_cast<std::size_t>(spec.d_head()), width = d_q + 2 * d_kv;
    // Neighbouring heads share a key head where there are fewer of those.
    const std::size_t key = d_q + head * static_cast<std::size_t>(spec.kv_heads) / H * d_head;
    HeadNumbers result;
    const double scale = 1 / (input.model.numerics.temperature * std::sqrt(static_cast<double>(d_head)));
    result.squares.scale = scale;
    const int rows = tape.length, columns = spec.d_head();
    const auto norm = [](int height, int breadth, const std::vector<double>& matrix) {
        return matrix_norms<double>(height, breadth, matrix.data(), breadth).spectral;
    };
    std::vector<double> s(n * n);
    for (std::size_t b = 0; b < static_cast<std::size_t>(tape.sequences); ++b) {
        input.check_cancelled();
        const HostView<T> qkv = tape.view(attention.qkv + b * n * width, n * width),
                          probabilities = tape.view(attention.probabilities + (b * H + head) * n * n, n * n),
                          mixed = tape.view(attention.mixed + b * n * d_q, n * d_q);
        const auto q = widened(qkv.data() + head * d_head, n, d_head, width),
                   k = widened(qkv.data() + key, n, d_head, width),
                   v = widened(qkv.data() + key + d_kv, n, d_head, width),
                   o = widened(mixed.data() + head * d_head, n, d_head, d_q);
        const std::vector<double> p(probabilities.begin(), probabilities.end());
        matmul_nt<double>(rows, rows, columns, scale, q.data(), columns, k.data(), columns, 0, s.data(),
                          rows);
        if (spec.causal)
            for (std::size_t i = 0; i < n; ++i)
                std::fill(s.begin() + static_cast<std::ptrdiff_t>(i * n + i + 1),
                          s.begin() + static_cast<std::ptrdiff_t>(i * n + n), 0.0);
        for (std::size_t i = 0; i < n; ++i)
            std::fill_n(s.begin() + static_cast<std::ptrdiff_t>(i * n),
                        spec.first_key(static_cast<int>(layer), static_cast<int>(i)), 0.0);
        AttentionSizes& sum = result.squares;
        sum.scores += squares_of(s);
        sum.probabilities += squares_of(p);
        sum.queries += squares_of(q);
        sum.keys += squares_of(k);
        sum.output += squares_of(o);
        if (!std::isfinite(sum.scores + sum.probabilities + sum.output)) {
            result.kappa_score = result.kappa_softmax = result.kappa_v = sum.row_norm = sum.values = kNaN;
            return result;
        }
        raise(result.kappa_score,
              scale * norm(rows, columns, q) * norm(rows, columns, k) / norm(rows, rows, s));
        const Condition values = condition_of(rows, columns, v, kValueRidge);
        raise(result.kappa_v, values.number);
        raise(sum.values, values.norm);
        // The softmax reads capped scores. The cap's own condition is at most 1.
        if (const double cap = spec.attention_soft_cap; cap > 0)
            for (double& score : s) score = cap * std::tanh(score / cap);
        add_rows(n, spec.causal, p, s, result);
    }
    return result;
}

struct SiteNumbers {
    double c_ln = kNaN, term = kNaN, cancellation = kNaN, rho_fp16 = kNaN, rho_bf16 = kNaN;
};

template <class T>
SiteNumbers measure_site(const ProbeInput<T>& input, const Tape<T>& tape, const NormSite& site) {
    SiteNumbers result;
    const NormNulls nulls = norm_kind_row(site.offsets.kind).nulls;
    if (nulls == NormNulls::None) return result;
    const auto d = static_cast<std::size_t>(input.model.spec().d_model),
               rows = static_cast<std::size_t>(tape.rows());
    const HostView<T> x = tape.view(norm_site_input(site, tape).x, rows * d);
    const double width = static_cast<double>(d), eps = norm_eps(input.model, site);
    std::vector<double> variances(rows), ratios(rows);
    double total = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const T* token = x.data() + r * d;
        double mean = 0, squares = 0, deviations = 0;
        if (nulls == NormNulls::MeanAndInput) mean = std::accumulate(token, token + d, 0.0) / width;
        for (std::size_t i = 0; i < d; ++i) {
            const auto value = static_cast<double>(token[i]);
            squares += value * value;
            deviations += (value - mean) * (value - mean);
        }
        total += squares;
        variances[r] = deviations / width;
        ratios[r] = std::sqrt(squares / deviations);
    }
    if (!std::isfinite(total)) return result;
    double largest = 0;
    for (const T gain : input.model.host_parameters(site.offsets.weight, d))
        raise(largest, std::abs(static_cast<double>(gain)));
    const double variance = median(std::move(variances));
    result.c_ln = norm_condition_v1(variance, eps);
    result.term = largest * norm_factor_v2(variance, eps) * std::sqrt(total);
    result.cancellation = std::any_of(ratios.begin(), ratios.end(), [](double r) { return std::isnan(r); })
                              ? kNaN
                              : median(std::move(ratios));
    if (eps > 0) {
        result.rho_fp16 = rho_ln(variance, eps, d, kUnitRoundOffFp16);
        result.rho_bf16 = rho_ln(variance, eps, d, kUnitRoundOffBf16);
    }
    return result;
}

/// What a layer has in addition to its heads and norms.
struct LayerNumbers {
    double output_norm = kNaN;  ///< ‖W_O‖₂
    double kappa_eff = kNaN;
    double remainder = kNaN;  ///< ‖W_O‖₂‖O‖ + ‖W_1‖₂‖u‖ + ‖W_2‖₂‖act‖
    double growth = kNaN;     ///< residual_growth()
};

template <class T>
LayerNumbers measure_layer(const ProbeInput<T>& input, const Tape<T>& tape, std::size_t layer) {
    const Transformer<T>& model = input.model;
    const StackSpec& spec = model.spec();
    const auto d = static_cast<std::size_t>(spec.d_model), rows = static_cast<std::size_t>(tape.rows()),
               d_ff = static_cast<std::size_t>(spec.d_ff);
    const auto weight = [&](std::size_t offset, int height, int breadth) {
        input.check_cancelled();
        const HostView<T> values = model.host_parameters(
            offset, static_cast<std::size_t>(height) * static_cast<std::size_t>(breadth));
        return condition_of(height, breadth, {values.begin(), values.end()}, kWeightRidge);
    };
    const AttentionOffsets& attention = model.table().attention[layer];
    const FeedForwardOffsets& feed_forward = model.table().feed_forward[layer];
    const Condition out = weight(attention.wo, spec.d_model, spec.d_q()),
                    first = weight(feed_forward.w1, feed_forward_width(spec), spec.d_model),
                    second = weight(feed_forward.w2, spec.d_model, spec.d_ff);
    const SublayerTape<T>&of_attention = tape.sublayers[2 * layer], &of_ffn = tape.sublayers[2 * layer + 1];
    const auto size = [&](const T* values, std::size_t width) {
        return std::sqrt(squares_of(tape.view(values, rows * width)));
    };
    const auto branch = [&](int sublayer) {
        T* values = model.device().template scratch_of<T>(kResidualRows, rows * d);
        branch_rows(model, tape, sublayer, 0, tape.rows(), values);
        return size(values, d);
    };
    const bool parallel = spec.layout == Layout::Parallel;
    const T* before_ffn = tape.hidden[parallel ? 2 * layer : 2 * layer + 1];
    LayerNumbers result;
    result.output_norm = out.norm;
    result.kappa_eff = first.number + second.number + out.number;
    result.remainder = out.norm * size(of_attention.mixed, static_cast<std::size_t>(spec.d_q())) +
                       first.norm * size(of_ffn.u ? of_ffn.u : of_ffn.x, d) +
                       second.norm * size(of_ffn.activated, d_ff);
    const int k = 2 * static_cast<int>(layer);
    result.growth = residual_growth(branch(k) / size(tape.hidden[2 * layer], d),
                                    branch(k + 1) / size(before_ffn, d), parallel);
    return result;
}

/// The heads of a layer together, as norms.
AttentionSizes joined(std::span<const HeadNumbers> heads) {
    AttentionSizes all;
    all.scale = heads.front().squares.scale;
    for (const HeadNumbers& head : heads) {
        all.scores += head.squares.scores;
        all.probabilities += head.squares.probabilities;
        all.queries += head.squares.queries;
        all.keys += head.squares.keys;
        all.output += head.squares.output;
        raise(all.values, head.squares.values);
        raise(all.row_norm, head.squares.row_norm);
    }
    for (double* norm : {&all.scores, &all.probabilities, &all.queries, &all.keys, &all.output})
        *norm = std::sqrt(*norm);
    return all;
}

}  // namespace

template <class T>
ProbeResult probe_fragility(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const Transformer<T>& model = input.model;
    const StackSpec& spec = model.spec();
    const auto D = static_cast<std::size_t>(spec.depth), H = static_cast<std::size_t>(spec.heads);
    const auto d = static_cast<std::size_t>(spec.d_model), rows = static_cast<std::size_t>(tape.rows());
    const auto& sites = model.sites();
    const auto touches = [&](std::size_t layer) {
        const int first = 2 * static_cast<int>(layer);
        return input.selects_layer(static_cast<int>(layer)) || input.selects_sublayer(first) ||
               input.selects_sublayer(first + 1);
    };
    std::vector<HeadNumbers> heads(D * H);
    std::vector<SiteNumbers> norms(sites.size());
    std::vector<LayerNumbers> layers(D);
    input.pool.run(static_cast<int>(D * H + D + sites.size()), [&](int piece) {
        auto at = static_cast<std::size_t>(piece);
        if (at < D * H) {
            if (touches(at / H)) heads[at] = measure_head(input, tape, at / H, at % H);
        } else if ((at -= D * H) < D) {
            if (touches(at)) layers[at] = measure_layer(input, tape, at);
        } else if (const NormSite& site = sites[at - D];
                   input.selects(site.name) ||
                   (site.sublayer >= 0 && touches(static_cast<std::size_t>(site.sublayer / 2)))) {
            input.check_cancelled();
            norms[at - D] = measure_site(input, tape, site);
        }
    });

    std::vector<double> softmax(D, kNaN), chi(D, kNaN), value(D, kNaN), predictor(D, kNaN), local(D, kNaN),
        transport(D, 1), forecast(D, kNaN);
    for (std::size_t l = 0; l < D; ++l) {
        if (!touches(l)) continue;
        const std::span<const HeadNumbers> of_layer(heads.data() + l * H, H);
        const AttentionSizes sizes = joined(of_layer);
        softmax[l] = sizes.softmax();
        chi[l] = sizes.score();
        value[l] = sizes.value();
        LayerTermsV1 terms{0, 0, 0, layers[l].output_norm, layers[l].kappa_eff, 0};
        for (const HeadNumbers& head : of_layer) {
            raise(terms.softmax, head.kappa_softmax);
            raise(terms.score, head.kappa_score);
            raise(terms.value, head.kappa_v);
        }
        local[l] = sizes.term() + layers[l].remainder;
        for (std::size_t i = 0; i < sites.size(); ++i)
            if (sites[i].sublayer >= 0 && static_cast<std::size_t>(sites[i].sublayer / 2) == l) {
                raise(terms.norm, norms[i].c_ln);
                local[l] += norms[i].term;
            }
        predictor[l] = terms.predictor();
    }
    const double final_size = std::sqrt(squares_of(tape.view(tape.final_hidden, rows * d)));
    for (std::size_t l = D; l-- > 0;) {
        if (l + 1 < D) transport[l] = transport[l + 1] * (1 + layers[l + 1].growth);
        forecast[l] = local[l] * transport[l] / final_size;
    }

    ProbeResult result;
    const auto per_head = [&](const char* name, auto&& number) {
        std::vector<double> values;
        for (const HeadNumbers& head : heads) values.push_back(number(head));
        result.arrays.push_back({name, {D, H}, std::move(values), {"layer", "head"}, "1"});
    };
    const auto per_layer = [&](const char* name, std::vector<double> values, const char* unit = "1") {
        result.arrays.push_back({name, {D}, std::move(values), {"layer"}, unit});
    };
    const auto per_site = [&](const char* name, double SiteNumbers::*number, const char* unit = "1") {
        std::vector<double> values;
        for (const SiteNumbers& norm : norms) values.push_back(norm.*number);
        result.arrays.push_back({name, {sites.size()}, std::move(values), {"site"}, unit});
    };
    const auto sum = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    per_head("kappa_score", [](const HeadNumbers& head) { return head.kappa_score; });
    per_head("kappa_softmax", [](const HeadNumbers& head) { return head.kappa_softmax; });
    per_head("kappa_v", [](const HeadNumbers& head) { return head.kappa_v; });
    per_head("row_norm", [](const HeadNumbers& head) { return head.squares.row_norm; });
    per_layer("softmax_v2", std::move(softmax));
    per_layer("chi_score", std::move(chi));
    per_layer("kappa_val", std::move(value));
    std::vector<double> weights;
    for (const LayerNumbers& layer : layers) weights.push_back(layer.kappa_eff);
    per_layer("kappa_eff", std::move(weights));
    per_site("c_ln", &SiteNumbers::c_ln);
    per_site("ln_term", &SiteNumbers::term);
    per_site("cancellation", &SiteNumbers::cancellation);
    per_site("rho_fp16", &SiteNumbers::rho_fp16);
    per_site("rho_bf16", &SiteNumbers::rho_bf16);
    const double total_v1 = sum(predictor), total_v2 = sum(forecast);
    per_layer("predictor_v1", std::move(predictor));
    per_layer("local_v2", std::move(local));
    per_layer("transport", std::move(transport));
    per_layer("predictor_v2", std::move(forecast));
    result.arrays.push_back({"total_v1", {}, {total_v1}, {}, "1"});
    result.arrays.push_back({"total_v2", {}, {total_v2}, {}, "1"});
    for (const NormSite& site : sites) result.labels["sites"].push_back(site.name);
    return result;
}
template ProbeResult probe_fragility<float>(ProbeInput<float>&);
template ProbeResult probe_fragility<double>(ProbeInput<double>&);

namespace {

/// Gram matrices and their eigenvalues (as in weights.cpp) of the scores, scalar work on rows, singular
/// values of the weights.
double fragility_operations(const ProbeShape& s) {
    const double n = s.length, m = std::min<double>(n, kDenseNormWidth),
                 heads = double(s.depth) * s.heads * s.sequences, d = s.d_model;
    return s.part.touched *
           (heads * (3 * n * n * (s.d_model / double(s.heads)) + (4 * m + 2500) * m * m + 2 * n * n * m) +
            scalar_operations(heads * 8 * n * n) + scalar_operations(12 * s.states()) +
            s.depth * 20 * d * d * (d + 2.0 * s.d_ff));
}

}  // namespace

ProbeInfo fragility_probe() {
    const std::vector<Axis> heads{axis::layer, axis::head}, layers{axis::layer}, sites{axis::site};
    constexpr unsigned all = kMayBeNan | kNeedsAll;
    return {
        "fragility",
        "Low-precision predictor",
        "v1: Σ κ_softmax(1+κ_score)κ(V)‖W_O‖ + κ_eff + C_LN; v2: Σ local·Π(1+r)/‖h‖; the error is u times "
        "that",
        "[B] Theorems 1, 3, Proposition 1 and both of its codes",
        ProbeNeeds::Forward,
        ProbeCost::Expensive,
        fragility_operations,
        probe_fragility<float>,
        probe_fragility<double>,
        {{"kappa_score", heads, "‖Q‖₂‖K‖₂/(τ√d_h‖S‖₂), S without masked scores", kMayBeNan},
         {"kappa_softmax", heads, "largest ‖J(p)‖₂‖S_i‖₂/‖p_i‖₂ of a row", kMayBeNan},
         {"kappa_v", heads, "σ_max(V)/(σ_min(V) + 3e-6)", kMayBeNan},
         {"row_norm", heads, "largest ‖diag p − ppᵀ‖₂ of a row, at most ½", kMayBeNan},
         {"softmax_v2", layers, "row_norm·‖S‖/‖P‖, of all heads together", kMayBeNan, "1", "attn"},
         {"chi_score", layers, "row_norm·‖Q‖‖K‖/(τ√d_h‖P‖), of all heads together", kMayBeNan, "1", "attn"},
         {"kappa_val", layers, "‖P‖·‖V‖₂/‖PV‖, in place of κ(V)", kMayBeNan, "1", "attn"},
         {"kappa_eff", layers, "κ(W_1) + κ(W_2) + κ(W_O), each σ_max/(σ_min + 1e-6)", kMayBeNan},
         {"c_ln", sites, "σ/√ε + σ²/ε + 1 of the norm's input", kMayBeNan},
         {"ln_term", sites, "‖γ‖∞(ε + 2σ²)/(σ² + ε)^(3/2)·‖x‖ of the norm's input", kMayBeNan},
         {"cancellation", sites, "median over tokens of ‖x‖/‖x − μ‖", kMayBeNan},
         {"rho_fp16", sites, "ρ_LN of the median variance in FP16", kMayBeNan},
         {"rho_bf16", sites, "ρ_LN of the median variance in BF16", kMayBeNan},
         {"predictor_v1", layers, "the layer's term of v1", kMayBeNan},
         {"local_v2", layers, "absolute error that a layer makes, in units of u", kMayBeNan},
         {"transport", layers, "Π over later layers of 1 + r: how much of it can arrive", all},
         {"predictor_v2", layers, "local_v2·transport/‖final hidden state‖", all},
         {"total_v1", {}, "sum over the layers", all},
         {"total_v2", {}, "sum over the layers", all}},
        {{"sites", "names of the norms, in forward order"}},
        false};
}

}  // namespace normscope
