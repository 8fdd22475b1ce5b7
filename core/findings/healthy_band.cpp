// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/healthy_band.h"

#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/findings/place_words.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope {

namespace {

constexpr double kLow = 0.1, kHigh = 0.9;

/// Columns of the steps that are results of the training rather than of the machine.
constexpr const char* kColumns[] = {"grad_norm", "grad_ratio"};

/// Means over the sequences of the probe batch, which come with their standard error: extremes, subsets and
/// the places where they lie scatter so widely that one of them is far away in every run. θ is 1 in most
/// rows.
bool is_compared(const ProbeResult& sample, const NamedArray& array) {
    return sample.probe != "theta" && array.data.size() <= HealthyBand::kMaxArray &&
           sample.find(array.name + "_error");
}

/// `values` ascending, without the one at `without` (their count: none).
double quantile_without(const std::vector<double>& ascending, std::size_t without, double q) {
    const std::size_t count = ascending.size() - (without < ascending.size() ? 1 : 0);
    const auto at = [&](std::size_t i) { return ascending[i < without ? i : i + 1]; };
    const double position = q * static_cast<double>(count - 1);
    const auto below = static_cast<std::size_t>(position);
    const double part = position - static_cast<double>(below);
    return part > 0 ? at(below) + part * (at(below + 1) - at(below)) : at(below);
}

/// Distance from the median over the spread, all transformed; no spread: 0 at the median, else infinite.
double distance(double value, double low, double middle, double high) {
    const double away = std::abs(value - middle), spread = high - low;
    if (!std::isfinite(away)) return HUGE_VAL;
    // Values that are equal but for rounding count as having none.
    const double least = 1e-6 * std::max(1.0, std::abs(middle));
    return away <= least ? 0 : away / std::max(spread, least);
}

/// "head 3", or of an axis that lists its entries ("min, 5 %, max") the one that is meant.
std::string entry_name(const std::string& axis, std::size_t k, std::size_t extent) {
    std::vector<std::string> names(1);
    for (std::size_t i = 0; i < axis.size(); ++i)
        if (axis.compare(i, 2, ", ") == 0)
            names.emplace_back(), ++i;
        else
            names.back() += axis[i];
    if (names.size() > 1 && names.size() == extent) return names[k];
    return axis + " " + std::to_string(k + 1);
}

std::size_t row_of(const RunData& run, std::int64_t step) {
    const auto& steps = run.steps.step;
    const auto found = std::lower_bound(steps.begin(), steps.end(), step);
    return found != steps.end() && *found == step ? static_cast<std::size_t>(found - steps.begin())
                                                  : steps.size();
}

}  // namespace

std::string place_of_entry(const ProbeResult& sample, const NamedArray& array, std::size_t at) {
    std::string place;
    std::size_t rest = at, block = 1;
    for (const std::size_t extent : array.shape) block *= std::max<std::size_t>(1, extent);
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        block /= std::max<std::size_t>(1, array.shape[i]);
        const std::size_t k = rest / block;
        rest %= block;
        const std::string& axis = i < array.axes.size() ? array.axes[i] : "entry";
        if (!place.empty()) place += ", ";
        if (axis == "hidden_state") {
            place += state_words(k);
        } else if (axis == "sublayer") {
            const bool within_layer = i > 0 && array.axes[i - 1] == "layer";
            const std::string words = layer_words(k);
            place += within_layer ? words.substr(words.find(", ") + 2) : words;
        } else if (const auto names = sample.labels.find(axis + "s");
                   names != sample.labels.end() && names->second.size() == array.shape[i]) {
            place += names->second[k];  // sites of norms, groups of parameters
        } else {
            place += entry_name(axis, k, array.shape[i]);
        }
    }
    return place;
}

HealthyBand::Quantiles HealthyBand::quantiles(const std::vector<double>& ascending, std::size_t without) {
    return {quantile_without(ascending, without, kLow), quantile_without(ascending, without, 0.5),
            quantile_without(ascending, without, kHigh)};
}

double HealthyBand::Number::score(double value) const {
    if (!usable || std::isnan(value)) return 0;
    // Against the same band in a healthy run's own score: the rule is that of number_of().
    const bool in_logarithms = positive && value > 0;
    const Quantiles& q = in_logarithms ? logarithms : plain;
    return distance(in_logarithms ? std::log(value) : value, q.low, q.middle, q.high);
}

HealthyBand::Number HealthyBand::number_of(const std::vector<double>& values, std::vector<double>& scores) {
    Number number;
    if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
        return number;  // not defined, or not measured
    std::vector<double> ascending = values, logarithms;
    std::sort(ascending.begin(), ascending.end());
    // Counts, and shares at 0 or 1, have no spread: one run that differs would be infinitely far away.
    if (std::adjacent_find(ascending.begin(), ascending.end()) != ascending.end()) return number;
    number.usable = true;
    const auto not_positive = std::count_if(values.begin(), values.end(), [](double v) { return v <= 0; });
    number.positive = not_positive == 0;
    const std::size_t all = values.size();
    number.plain = quantiles(ascending, all);
    if (number.positive) {
        for (const double v : ascending) logarithms.push_back(std::log(v));
        number.logarithms = quantiles(logarithms, all);
    }
    for (std::size_t i = 0; i < all; ++i) {
        // Where the others alone are positive, this one is not: no logarithm either.
        const auto own = static_cast<std::size_t>(
            std::lower_bound(ascending.begin(), ascending.end(), values[i]) - ascending.begin());
        const Quantiles q = quantiles(number.positive ? logarithms : ascending, own);
        scores[i] = std::max(
            scores[i], distance(number.positive ? std::log(values[i]) : values[i], q.low, q.middle, q.high));
    }
    return number;
}

HealthyBand::Values HealthyBand::values_of(const RunData& run, std::int64_t step, std::size_t row,
                                           bool loss) {
    Values values;
    const auto column = [&](const char* name) {
        const std::vector<double>* found = run.steps.find(name);
        if (found && row < found->size()) values[std::string("steps/") + name] = {(*found)[row]};
    };
    if (loss) {
        column("loss");
        return values;
    }
    for (const char* const name : kColumns) column(name);
    for (const auto& [id, samples] : run.probes)
        if (const ProbeResult* sample = run.sample_of(id, step))
            for (const NamedArray& array : sample->arrays)
                if (is_compared(*sample, array)) values["probes/" + id + "/" + array.name] = array.data;
    return values;
}

HealthyBand::Band HealthyBand::band_of(const std::vector<RunData>& healthy, bool loss, std::size_t k) {
    Band band;
    std::vector<double> scores(healthy.size(), 0.0);
    for (const std::int64_t step : healthy.front().steps.step) {
        std::vector<Values> of_runs;
        for (const RunData& run : healthy) {
            const std::size_t row = row_of(run, step);
            if (row < run.steps.step.size()) of_runs.push_back(values_of(run, step, row, loss));
        }
        if (of_runs.size() < healthy.size()) break;  // one of them has ended
        Series& series = band.at[step];
        for (const auto& [name, first] : of_runs.front()) {
            const bool in_all = std::all_of(of_runs.begin(), of_runs.end(),
                                            [&, &key = name, count = first.size()](const Values& values) {
                                                const auto found = values.find(key);
                                                return found != values.end() && found->second.size() == count;
                                            });
            if (!in_all) continue;
            AtStep numbers(first.size());
            for (std::size_t entry = 0; entry < first.size(); ++entry) {
                std::vector<double> values;
                for (const Values& of : of_runs) values.push_back(of.at(name)[entry]);
                numbers[entry] = number_of(values, scores);
                band.numbers += numbers[entry].usable;
            }
            series[name] = std::move(numbers);
        }
        ++band.steps;
    }
    std::sort(scores.rbegin(), scores.rend());
    band.limit = scores[k - 1];
    return band;
}

HealthyBand::HealthyBand(const std::vector<RunData>& healthy, double rate) : runs_(healthy.size()) {
    if (runs_ < kMinRuns)
        throw InputError("healthy runs", std::to_string(runs_) + " are too few for a band",
                         std::to_string(kMinRuns) + " and more");
    for (const RunData& run : healthy)
        if (run.steps.step.empty())
            throw InputError("healthy runs", run.name + " has no step", "trained runs");
    const double n = static_cast<double>(runs_) + 1;
    // A rate of exactly k/(n + 1) is that k.
    const double k = std::max(1.0, std::min(n - 1, std::floor(rate * n + 1e-9)));
    rate_ = k / n;
    probes_ = band_of(healthy, false, static_cast<std::size_t>(k));
    loss_ = band_of(healthy, true, static_cast<std::size_t>(k));
    if (probes_.steps == 0 || probes_.numbers == 0)
        throw InputError("healthy runs", "have no step in common", "runs with the same steps and probes");
}

std::optional<OutsideBand> HealthyBand::first_outside(const Band& band, const RunData& run) {
    for (const auto& [step, series] : band.at) {
        const std::size_t row = row_of(run, step);
        if (row >= run.steps.step.size()) continue;
        std::optional<OutsideBand> furthest;
        for (const bool loss : {false, true})
            for (const auto& [name, values] : values_of(run, step, row, loss)) {
                const auto known = series.find(name);
                if (known == series.end() || known->second.size() != values.size()) continue;
                for (std::size_t entry = 0; entry < values.size(); ++entry) {
                    const Number& number = known->second[entry];
                    const double score = number.score(values[entry]);
                    if (!(score > band.limit) || (furthest && furthest->score >= score)) continue;
                    const Quantiles& q = number.plain;
                    furthest = OutsideBand{step, name, {}, values[entry], q.low, q.middle, q.high, score};
                    const std::size_t slash = name.rfind('/');
                    if (name.starts_with("probes/")) {
                        const std::string probe = name.substr(7, slash - 7);
                        const ProbeResult* sample = run.sample_of(probe, step);
                        if (const NamedArray* array = sample ? sample->find(name.substr(slash + 1)) : nullptr)
                            furthest->place = place_of_entry(*sample, *array, entry);
                    }
                }
            }
        if (furthest) return furthest;
    }
    return std::nullopt;
}

std::optional<HealthyBand::Range> HealthyBand::range(std::int64_t step, const std::string& series) const {
    for (const Band* band : {&probes_, &loss_}) {
        const auto at = band->at.find(step);
        if (at == band->at.end()) continue;
        const auto numbers = at->second.find(series);
        if (numbers == at->second.end()) continue;
        Range range;
        for (const Number& number : numbers->second) {
            range.low.push_back(number.usable ? number.plain.low : kNaN);
            range.high.push_back(number.usable ? number.plain.high : kNaN);
        }
        return range;
    }
    return std::nullopt;
}

std::vector<std::int64_t> HealthyBand::common_steps() const {
    std::vector<std::int64_t> steps;
    for (const auto& [step, series] : probes_.at) steps.push_back(step);
    return steps;
}

std::size_t HealthyBand::compared(const RunData& run) const {
    return static_cast<std::size_t>(std::count_if(probes_.at.begin(), probes_.at.end(), [&](const auto& at) {
        return row_of(run, at.first) < run.steps.step.size();
    }));
}

}  // namespace normscope
