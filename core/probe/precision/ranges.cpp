// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/precision/ranges.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/shared/number_format.h"
#include "core/base/nan.h"
#include "core/model/residual_sum.h"
#include "core/model/scratch_slots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

namespace {

constexpr std::size_t kRangeFormats = kNumberFormats.size();

struct Range {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    std::size_t count = 0;
    std::array<std::size_t, kRangeFormats> over{}, under{}, lost{};
    bool undefined = false;  ///< an entry is NaN

    void add(double value) {
        const double magnitude = std::abs(value);
        ++count;
        if (std::isnan(magnitude)) undefined = true;
        if (magnitude > largest) largest = magnitude;
        if (!(magnitude > 0)) return;
        smallest = std::min(smallest, magnitude);
        for (std::size_t f = 0; f < kRangeFormats; ++f) {
            over[f] += magnitude > kNumberFormats[f].largest;
            under[f] += magnitude < kNumberFormats[f].smallest_normal;
            lost[f] += magnitude <= kNumberFormats[f].smallest / 2;
        }
    }
    template <class T>
    void add(const HostView<T>& values) {
        for (const T value : values) add(static_cast<double>(value));
    }
    double share(std::size_t of) const { return undefined || count == 0 ? kNaN : double(of) / double(count); }
};

struct Place {
    std::string name;
    std::function<void(Range&)> measure;
};

/// Every place of a pass with the function that reads it.
template <class T>
class Places {
  public:
    explicit Places(ProbeInput<T>& input) : input_(input), tape_(input.tape()), record_(input.backward()) {}

    std::vector<Place> all() {
        const StackSpec& s = input_.model.spec();
        const auto R = static_cast<std::size_t>(tape_.rows()), d = static_cast<std::size_t>(s.d_model),
                   d_q = static_cast<std::size_t>(s.d_q());
        for (std::size_t l = 0; l < static_cast<std::size_t>(s.depth); ++l) {
            const SublayerTape<T>&attention = tape_.sublayers[2 * l], &ffn = tape_.sublayers[2 * l + 1];
            const std::string block = "blocks." + std::to_string(l);
            stored(block + ".attn.qkv", attention.qkv, R * (d_q + 2 * static_cast<std::size_t>(s.d_kv())));
            places_.push_back({block + ".attn.scores", [this, l](Range& range) { scores(l, range); }});
            places_.push_back(
                {block + ".attn.probabilities", [this, l](Range& range) { probabilities(l, range); }});
            stored(block + ".attn.mixed", attention.mixed, R * d_q);
            branch(block + ".attn.branch", static_cast<int>(2 * l));
            stored(block + ".ffn.pre", ffn.pre, R * static_cast<std::size_t>(feed_forward_width(s)));
            stored(block + ".ffn.hidden", ffn.activated, R * static_cast<std::size_t>(s.d_ff));
            branch(block + ".ffn.branch", static_cast<int>(2 * l + 1));
        }
        for (std::size_t k = 0; k < tape_.hidden.size(); ++k)
            stored("hidden." + std::to_string(k), tape_.hidden[k], R * d);
        stored("logits", tape_.logits, R * static_cast<std::size_t>(s.vocab));
        for (std::size_t k = 0; k < record_.hidden.size(); ++k)
            stored("grad.hidden." + std::to_string(k), record_.hidden[k].data(), R * d);
        return std::move(places_);
    }

  private:
    void stored(std::string name, const T* values, std::size_t count) {
        places_.push_back(
            {std::move(name), [this, values, count](Range& range) { range.add(tape_.view(values, count)); }});
    }

    void branch(std::string name, int sublayer) {
        places_.push_back({std::move(name), [this, sublayer](Range& range) {
                               const auto count = static_cast<std::size_t>(tape_.rows()) *
                                                  static_cast<std::size_t>(input_.model.spec().d_model);
                               T* rows = input_.model.device().template scratch_of<T>(kResidualRows, count);
                               branch_rows(input_.model, tape_, sublayer, 0, tape_.rows(), rows);
                               range.add(tape_.view(rows, count));
                           }});
    }

    /// Calls of(sequence, head) for every map of a layer.
    template <class Of>
    void each_map(Of&& of) const {
        for (std::size_t b = 0; b < static_cast<std::size_t>(tape_.sequences); ++b)
            for (std::size_t h = 0; h < static_cast<std::size_t>(input_.model.spec().heads); ++h) of(b, h);
    }
    std::size_t keys(std::size_t token) const {
        return input_.model.spec().causal ? token + 1 : static_cast<std::size_t>(tape_.length);
    }

    void scores(std::size_t layer, Range& range) const {
        const StackSpec& s = input_.model.spec();
        const auto n = static_cast<std::size_t>(tape_.length), d_q = static_cast<std::size_t>(s.d_q()),
                   dh = static_cast<std::size_t>(s.d_head());
        const int across = s.d_q() + 2 * s.d_kv();
        std::vector<T> map(n * n);
        each_map([&](std::size_t b, std::size_t h) {
            const std::size_t size = n * static_cast<std::size_t>(across),
                              key = d_q + h * static_cast<std::size_t>(s.kv_heads) /
                                              static_cast<std::size_t>(s.heads) * dh;
            const HostView<T> qkv = tape_.view(tape_.sublayers[2 * layer].qkv + b * size, size);
            matmul_nt<T>(tape_.length, tape_.length, s.d_head(), 1, qkv.data() + h * dh, across,
                         qkv.data() + key, across, 0, map.data(), tape_.length);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j =
                         static_cast<std::size_t>(s.first_key(static_cast<int>(layer), static_cast<int>(i)));
                     j < keys(i); ++j)
                    range.add(static_cast<double>(map[i * n + j]));
        });
    }

    void probabilities(std::size_t layer, Range& range) const {
        const auto n = static_cast<std::size_t>(tape_.length),
                   H = static_cast<std::size_t>(input_.model.spec().heads);
        each_map([&](std::size_t b, std::size_t h) {
            const HostView<T> map =
                tape_.view(tape_.sublayers[2 * layer].probabilities + (b * H + h) * n * n, n * n);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < keys(i); ++j) range.add(static_cast<double>(map[i * n + j]));
        });
    }

    ProbeInput<T>& input_;
    const Tape<T>& tape_;
    const BackwardRecord<T>& record_;
    std::vector<Place> places_;
};

}  // namespace

template <class T>
ProbeResult probe_ranges(ProbeInput<T>& input) {
    Places<T> reader(input);
    const std::vector<Place> places = reader.all();
    std::vector<Range> ranges(places.size());
    input.pool.run(static_cast<int>(places.size()), [&](int i) {
        input.check_cancelled();
        places[static_cast<std::size_t>(i)].measure(ranges[static_cast<std::size_t>(i)]);
    });

    ProbeResult result;
    const auto add = [&](const std::string& name, auto&& number) {
        std::vector<double> values;
        for (const Range& range : ranges) values.push_back(number(range));
        result.arrays.push_back({name, {places.size()}, std::move(values), {"place"}, "1"});
    };
    add("amax", [](const Range& r) { return r.undefined ? kNaN : r.largest; });
    add("amin", [](const Range& r) { return r.undefined || std::isinf(r.smallest) ? kNaN : r.smallest; });
    for (std::size_t f = 0; f < kRangeFormats; ++f) {
        const std::string format = kNumberFormats[f].name;
        add("over_" + format, [f](const Range& r) { return r.share(r.over[f]); });
        add("under_" + format, [f](const Range& r) { return r.share(r.under[f]); });
        add("lost_" + format, [f](const Range& r) { return r.share(r.lost[f]); });
    }
    for (const Place& place : places) result.labels["places"].push_back(place.name);
    return result;
}
template ProbeResult probe_ranges<float>(ProbeInput<float>&);
template ProbeResult probe_ranges<double>(ProbeInput<double>&);

namespace {

/// Scalar work on every stored value; the scores' products.
double ranges_operations(const ProbeShape& s) {
    const double maps = double(s.depth) * s.heads * s.tokens() * s.length;
    const double stored =
        s.tokens() * (s.depth * (3.0 * s.d_model + 2.0 * s.d_q + 2 * s.d_kv + 2.0 * s.d_ff) + s.vocab) +
        2 * s.states();
    return scalar_operations(6 * (stored + maps)) + maps * (s.d_q / double(s.heads));
}

}  // namespace

ProbeInfo ranges_probe() {
    static constexpr Axis place{"place"};
    const std::vector<Axis> places{place};
    return {"ranges",
            "Ranges of values",
            "max |x|, min |x| ≠ 0; shares of |x| beyond a format's largest, below its smallest normal, and "
            "rounded to 0",
            "[B]; IEEE 754, OCP 8-bit formats",
            ProbeNeeds::Backward,
            ProbeCost::Expensive,
            ranges_operations,
            probe_ranges<float>,
            probe_ranges<double>,
            {{"amax", places, "largest magnitude", kMayBeNan},
             {"amin", places, "smallest magnitude that is not 0", kMayBeNan},
             {"over_fp16", places, "share above 65504", kMayBeNan},
             {"under_fp16", places, "share below 2⁻¹⁴, not 0", kMayBeNan},
             {"lost_fp16", places, "share that becomes 0: at most 2⁻²⁵, not 0", kMayBeNan},
             {"over_bf16", places, "share above 3.39e38", kMayBeNan},
             {"under_bf16", places, "share below 2⁻¹²⁶, not 0", kMayBeNan},
             {"lost_bf16", places, "share that becomes 0: at most 2⁻¹³⁴, not 0", kMayBeNan},
             {"over_e4m3", places, "share above 448, without a scale", kMayBeNan},
             {"under_e4m3", places, "share below 2⁻⁶, not 0", kMayBeNan},
             {"lost_e4m3", places, "share that becomes 0: at most 2⁻¹⁰, not 0", kMayBeNan},
             {"over_e5m2", places, "share above 57344, without a scale", kMayBeNan},
             {"under_e5m2", places, "share below 2⁻¹⁴, not 0", kMayBeNan},
             {"lost_e5m2", places, "share that becomes 0: at most 2⁻¹⁷, not 0", kMayBeNan}},
            {{"places", "names such as blocks.3.attn.scores, hidden.4, grad.hidden.4"}},
            false};
}

}  // namespace normscope
