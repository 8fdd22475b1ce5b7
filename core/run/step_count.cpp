// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/step_count.h"

#include "core/backend/cpu/host/thread_pool.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/model/parameters.h"
#include "core/run/experiment.h"
#include "core/train/data/corpus.h"

#if defined(NORMSCOPE_COUNTED_CUDA)
#include "core/backend/cuda/counting_device.h"
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace normscope {

namespace {

constexpr Card kCards[] = {
    {"h100", "NVIDIA H100 SXM", 3.35e12, 989e12, 494e12, 67e12},
    {"h200", "NVIDIA H200 SXM", 4.8e12, 989e12, 494e12, 67e12},
    {"a100", "NVIDIA A100 80GB SXM", 2.039e12, 312e12, 156e12, 19.5e12},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 1.008e12, 165e12, 82.6e12, 82.6e12},
};

/// "8.96", "3500": without a power of ten, up to a million.
std::string three_digits(double value) {
    if (value < 1000) return number_text(value, 3);
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return number_text(std::round(value / unit) * unit, 7);
}

#if defined(NORMSCOPE_COUNTED_CUDA)
/// Of the operations of a call.
double peak_of(const Card& card, const TrainSpec& train, std::string_view name) {
    const bool gemm = name == "gemm", tiles = name.starts_with("tiled_");
    const bool short_precision = train.precision == Precision::Bf16 || train.precision == Precision::Fp16;
    if ((gemm || tiles) && short_precision) return card.fp16;
    if (gemm && train.precision == Precision::Tf32) return card.tf32;
    return card.fp32;
}
#endif

}  // namespace

std::span<const Card> cards() {
    return kCards;
}

const Card& card_named(const std::string& id) {
    std::string allowed;
    for (const Card& card : kCards) {
        if (id == card.id) return card;
        allowed += (allowed.empty() ? "" : ", ") + std::string(card.id);
    }
    throw InputError("--card", normscope::quoted(id) + " is not known", allowed);
}

const char* limit_word(Limit limit) {
    switch (limit) {
        case Limit::Launch:
            return "launches";
        case Limit::Memory:
            return "memory";
        case Limit::Arithmetic:
            return "arithmetic";
    }
    return "";
}

std::string totals_text(const StepCount& count) {
    return std::to_string(count.calls) + " calls a step, " + std::to_string(count.gemms) +
           " of them GEMMs; " + with_prefix(count.bytes, "B") + ", " + with_prefix(count.flops, "FLOP");
}

std::string time_text(const StepCount& count, const TrainSpec& train, const StackSpec& stack) {
    std::array<int, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return count.seconds[static_cast<std::size_t>(a)] > count.seconds[static_cast<std::size_t>(b)];
    });
    std::string limits;
    for (const int limit : order) {
        const double share = count.seconds[static_cast<std::size_t>(limit)] / count.counted_seconds;
        limits += (limits.empty() ? "" : ", ") + std::string(limit_word(static_cast<Limit>(limit))) + " " +
                  std::to_string(std::lround(100 * share)) + " %";
    }
    const double steps = 1 / count.counted_seconds,
                 tokens = steps * static_cast<double>(train.batch) * train.accumulate * stack.context;
    return number_text(count.counted_seconds * 1e3, 3) + " ms by count, " + three_digits(steps) +
           " steps/s, " + (tokens < 1e6 ? three_digits(tokens) : number_text(tokens / 1e6, 3) + " million") +
           " tokens/s; limited by " + limits;
}

#if defined(NORMSCOPE_COUNTED_CUDA)

StepCount count_step(const Recipe& recipe, const Card& card) {
    const double weights = static_cast<double>(ParameterTable(recipe.stack).size()) * sizeof(double);
    const auto free = static_cast<double>(cpu_device().memory().free);
    if (weights > 0.8 * free)
        throw InputError("the weights of the stack",
                         "need " + number_text(weights / 0x1p30, 3) + " GiB to be drawn",
                         number_text(free / 0x1p30, 3) + " GiB are free");
    const CountingDevice counting = counting_device();
    const auto trainer = make_trainer(recipe.stack, recipe.train,
                                      make_corpus(recipe.train.data, recipe.stack), *counting.device);
    ThreadPool pool(0);
    std::vector<cuda::LoggedCall> calls;
    std::visit(
        [&](const auto& t) {
            t->step(pool);  // the first allocates
            counting.calls->calls.clear();
            t->step(pool);
            calls = std::move(counting.calls->calls);
        },
        trainer);

    struct Sum {
        CountedOperation operation;
        std::array<double, 3> seconds{};  // by limit
    };
    std::map<std::string, Sum> sums;
    StepCount count;
    for (const cuda::LoggedCall& call : calls) {
        const std::array<double, 3> needs{kLaunchSeconds, call.traffic.bytes() / card.bandwidth,
                                          call.traffic.flops / peak_of(card, recipe.train, call.name)};
        const auto longest = std::max_element(needs.begin(), needs.end());
        Sum& sum = sums[call.name];
        const auto limit = static_cast<std::size_t>(longest - needs.begin());
        sum.seconds[limit] += *longest;
        count.seconds[limit] += *longest;
        CountedOperation& o = sum.operation;
        ++o.calls;
        o.bytes += call.traffic.bytes();
        o.flops += call.traffic.flops;
        o.counted_seconds += *longest;
        count.gemms += std::string_view(call.name) == "gemm";
    }
    count.calls = calls.size();
    for (auto& [name, sum] : sums) {
        CountedOperation& o = sum.operation;
        o.name = name;
        o.limit = static_cast<Limit>(std::max_element(sum.seconds.begin(), sum.seconds.end()) -
                                     sum.seconds.begin());
        count.bytes += o.bytes;
        count.flops += o.flops;
        count.counted_seconds += o.counted_seconds;
        count.operations.push_back(std::move(o));
    }
    std::stable_sort(count.operations.begin(), count.operations.end(),
                     [](const auto& a, const auto& b) { return a.counted_seconds > b.counted_seconds; });
    return count;
}

#else

StepCount count_step(const Recipe&, const Card&) {
    throw InputError("bench --count", "is not in builds with ThreadSanitizer", "another build");
}

#endif

}  // namespace normscope
