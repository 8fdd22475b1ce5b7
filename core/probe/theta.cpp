// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/theta.h"

#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/probe/interface/jackknife.h"
#include "core/probe/interface/row_sample.h"
#include "core/probe/interface/token_labels.h"
#include "core/theory/softmax_sensitivity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

constexpr double kNearOne = 0.99;
constexpr std::array kQuantiles{0.0, 0.05, 0.5, 0.95, 1.0};

/// The contributions of each row to the averages of its head, summed by sequence.
enum ThetaTerm : std::size_t {
    ThetaRows,
    Theta,
    Below,
    Relative,
    RelativeBelow,
    Prefix,
    Peaked,
    kThetaTerms
};

/// A head's row with the lowest relative θ, a long one where there is any.
struct LowestRow {
    double relative = std::numeric_limits<double>::infinity(), theta = kNaN;
    std::size_t sequence = 0, row = 0, entries = 0;  ///< entries: without those that a window hides
    std::vector<double> probabilities;
    std::vector<std::size_t> subset;
};

/// The summary of one head's rows.
struct HeadSummary {
    bool measured = false;
    double most = 0, widest = 0;
    std::vector<double> sums;      ///< [sequences, kThetaTerms]
    std::vector<double> relative;  ///< of every row, ascending
    LowestRow lowest;
};

/// The rows of one head, one at a time.
template <class T>
class HeadRows {
  public:
    HeadRows(const SensitivityOptions& options, std::size_t sequences) : options_(options), solver_(options) {
        summary_.sums.assign(sequences * kThetaTerms, 0);
    }

    /// `hidden`: entries at its begin that a window hides.
    void add(std::size_t sequence, std::size_t row, std::span<const T> p, std::size_t hidden) {
        if (p.size() == hidden + 1 && hidden > 0) return;  // one-hot, as a causal row 0
        const Sensitivity theta = solver_.solve(p);
        const double relative = theta.value / uniform_row_sensitivity(p.size() - hidden);
        row_.assign(p.begin(), p.end());
        double sum = 0, largest = 0;
        for (const double value : row_) {
            sum += value;
            largest = std::max(largest, value);
        }
        double* sums = summary_.sums.data() + sequence * kThetaTerms;
        sums[ThetaRows] += 1;
        sums[Theta] += theta.value;
        sums[Below] += theta.value < kNearOne;
        sums[Relative] += relative;
        sums[RelativeBelow] += relative < kNearOne;
        sums[Prefix] += prefix_heuristic_sensitivity(row_, options_.sum_tolerance);
        sums[Peaked] += peaked_row_bound(std::max(0.0, 1 - largest / sum));
        summary_.most = std::max(summary_.most, theta.value);
        summary_.widest = std::max(summary_.widest, theta.upper - theta.lower);
        summary_.relative.push_back(relative);
        const bool informative = row_.size() - hidden >= kThetaLowestLength;
        const bool informative_stored = summary_.lowest.entries >= kThetaLowestLength;
        if (informative != informative_stored ? informative : relative < summary_.lowest.relative)
            summary_.lowest = {relative, theta.value,     sequence, row, row_.size() - hidden,
                               row_,     solver_.subset()};
    }

    HeadSummary finish() {
        summary_.measured = !summary_.relative.empty();
        std::sort(summary_.relative.begin(), summary_.relative.end());
        return std::move(summary_);
    }

  private:
    SensitivityOptions options_;
    SoftmaxSensitivity solver_;
    std::vector<double> row_;
    HeadSummary summary_;
};

/// A head of the tape; not measured where a probability is not finite.
template <class T>
HeadSummary summarise_head(ProbeInput<T>& input, const RowSample& sample, std::size_t at) {
    const Tape<T>& tape = input.tape();
    const StackSpec& s = input.model.spec();
    const auto H = static_cast<std::size_t>(s.heads), n = sample.length;
    SensitivityOptions options =
        std::is_same_v<T, float> ? SensitivityOptions::single_precision() : SensitivityOptions{};
    // Probabilities that were each rounded to BF16 or FP16 sum to 1 only within this.
    if (input.model.rounding() != Rounding::None) options.sum_tolerance = 1e-2;
    HeadRows<T> rows(options, sample.sequences);
    for (std::size_t b = 0; b < sample.sequences; ++b) {
        const HostView<T> map =
            tape.view(tape.sublayers[2 * (at / H)].probabilities + (b * H + at % H) * n * n, n * n);
        const T* p = map.data();
        // In a diverged stack the head stays NaN; the trainer names the first bad value.
        if (!std::all_of(p, p + n * n, [](T v) { return std::isfinite(v); })) return {};
        for (std::size_t i = sample.start(at, b); i < n; i += sample.stride)
            rows.add(b, i, {p + i * n, s.causal ? i + 1 : n},
                     static_cast<std::size_t>(s.first_key(static_cast<int>(at / H), static_cast<int>(i))));
    }
    return rows.finish();
}

void add_averages(ProbeResult& result, const std::vector<HeadSummary>& heads, std::size_t D, std::size_t H,
                  double temperature) {
    const struct {
        const char* name;
        ThetaTerm term;
        double factor;
    } averages[] = {{"mean", Theta, 1},
                    {"below_099", Below, 1},
                    {"relative_mean", Relative, 1},
                    {"relative_below_099", RelativeBelow, 1},
                    {"over_tau", Theta, 1 / temperature},
                    {"prefix_mean", Prefix, 1},
                    {"peaked_mean", Peaked, 1}};
    for (const auto& average : averages) {
        std::vector<Averaged> values;
        for (const HeadSummary& head : heads)
            values.push_back(head.measured ? jackknife(head.sums, kThetaTerms,
                                                       [&](std::span<const double> totals, std::size_t) {
                                                           return average.factor * totals[average.term] /
                                                                  totals[ThetaRows];
                                                       })
                                           : Averaged{kNaN, kNaN});
        add_averaged(result, average.name, {D, H}, values, {"layer", "head"}, "1");
    }
}

void add_lowest_rows(ProbeResult& result, const std::vector<HeadSummary>& heads, std::size_t D, std::size_t H,
                     std::size_t n) {
    if (D * H * n > kThetaLowestCells) {
        result.labels["left_out"] = {"lowest_row, lowest_subset, lowest_info: layers·heads·tokens above " +
                                     grouped(kThetaLowestCells)};
        return;
    }
    std::vector<double> rows(D * H * n, kNaN), subsets(D * H * n, kNaN), info(D * H * 3, kNaN);
    for (std::size_t at = 0; at < heads.size(); ++at) {
        if (!heads[at].measured) continue;
        const LowestRow& lowest = heads[at].lowest;
        const std::size_t length = lowest.probabilities.size();
        std::copy(lowest.probabilities.begin(), lowest.probabilities.end(), &rows[at * n]);
        std::fill_n(&subsets[at * n], length, 0.0);
        for (const std::size_t i : lowest.subset) subsets[at * n + i] = 1;
        info[3 * at] = static_cast<double>(lowest.sequence);
        info[3 * at + 1] = static_cast<double>(lowest.row);
        info[3 * at + 2] = lowest.theta;
    }
    result.arrays.push_back({"lowest_row", {D, H, n}, std::move(rows), {"layer", "head", "key"}, "1"});
    result.arrays.push_back({"lowest_subset", {D, H, n}, std::move(subsets), {"layer", "head", "key"}, "1"});
    result.arrays.push_back(
        {"lowest_info", {D, H, 3}, std::move(info), {"layer", "head", "sequence, row, theta"}, "1"});
}

}  // namespace

template <class T>
ProbeResult probe_theta(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const StackSpec& s = input.model.spec();
    const auto D = static_cast<std::size_t>(s.depth), H = static_cast<std::size_t>(s.heads);
    const auto n = static_cast<std::size_t>(tape.length);
    const RowSample sample(D * H, static_cast<std::size_t>(tape.sequences), n, s.causal, kThetaRows);

    std::vector<HeadSummary> heads(D * H);
    // The sample is that of all heads, so that the rows of a head do not depend on the selection.
    const auto selected = [&](std::size_t head) {
        return input.selects_sublayer(2 * static_cast<int>(head / H));
    };
    input.pool.run(static_cast<int>(D * H), [&](int piece) {
        const auto at = static_cast<std::size_t>(piece);
        if (!selected(at)) return;
        input.check_cancelled();
        heads[at] = summarise_head(input, sample, at);
    });

    ProbeResult result;
    std::vector<double> most, quantiles;
    double widest = 0;
    for (const HeadSummary& head : heads) {
        most.push_back(head.measured ? head.most : kNaN);
        for (const double q : kQuantiles)
            quantiles.push_back(head.measured ? quantile(head.relative, q) : kNaN);
        widest = std::max(widest, head.widest);
    }
    result.arrays.push_back({"max", {D, H}, std::move(most), {"layer", "head"}, "1"});
    add_averages(result, heads, D, H, input.model.numerics.temperature);
    result.arrays.push_back({"quantiles",
                             {D, H, kQuantiles.size()},
                             std::move(quantiles),
                             {"layer", "head", "min, 5 %, 50 %, 95 %, max"},
                             "1"});
    result.arrays.push_back({"width", {}, {widest}, {}, "1"});
    add_lowest_rows(result, heads, D, H, n);
    if (input.texts)
        if (std::vector<std::string> texts = input.texts(); !texts.empty())
            result.labels[kTokensLabel] = std::move(texts);
    result.labels["sampled"] = {grouped(sample.taken(selected)) + " of " + grouped(sample.all()) + " rows"};
    return result;
}
template ProbeResult probe_theta<float>(ProbeInput<float>&);
template ProbeResult probe_theta<double>(ProbeInput<double>&);

namespace {

/// Entries of all attention rows, without the masked ones.
double theta_operations(const ProbeShape& s) {
    return 13 * scalar_operations(s.part.attention * 0.5 * s.depth * s.heads * s.tokens() * s.length);
}

}  // namespace

ProbeInfo theta_probe() {
    const std::vector<Axis> heads{axis::layer, axis::head}, rows{axis::layer, axis::head, axis::key};
    constexpr unsigned flags = kAveraged | kMayBeNan, added = flags | kAdded,
                       some = kMayBeNan | kAdded | kOptional;
    static constexpr Axis quantile{"min, 5 %, 50 %, 95 %, max",
                                   [](const StackSizes&) { return kQuantiles.size(); }};
    static constexpr Axis info{"sequence, row, theta", [](const StackSizes&) { return std::size_t{3}; }};
    return {
        "theta",
        "Softmax sensitivity θ",
        "θ(p) = 4·max_S p(S)(1 − p(S)) = τ·‖∂p/∂logits‖_{∞→1} of an attention row p, S a subset of its keys",
        "[E] Definition 4.1, Theorem 4.2, Corollary 4.3 and Appendix E.2",
        ProbeNeeds::Forward,
        ProbeCost::Expensive,
        theta_operations,
        probe_theta<float>,
        probe_theta<double>,
        {{"max", heads, "largest θ of a row", kMayBeNan},
         {"mean", heads, "mean θ", flags},
         {"below_099", heads, "share of rows with θ < 0.99", flags},
         {"relative_mean", heads, "mean of θ ÷ θ of the uniform row of the same length", added},
         {"relative_below_099", heads, "share of rows where that is below 0.99", added},
         {"over_tau", heads, "mean θ/τ", added},
         {"prefix_mean", heads, "mean of a lower bound of θ", added},
         {"peaked_mean", heads, "mean of an upper bound of θ", added},
         {"quantiles",
          {axis::layer, axis::head, quantile},
          "of θ ÷ θ of the uniform row",
          kMayBeNan | kAdded},
         {"width", {}, "widest certificate of a θ", kNeedsAll},
         {"lowest_row", rows, "probabilities of the row with the lowest ratio", some},
         {"lowest_subset", rows, "1 where a key is in that row's S*", some},
         {"lowest_info", {axis::layer, axis::head, info}, "which row that is, and its θ", some}},
        {{"left_out", "what a stack this large does not have"},
         {kTokensLabel, "the held-out sequences as text, one a sequence, tokens divided by U+001F"}}};
}

}  // namespace normscope
