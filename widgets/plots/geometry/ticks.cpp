// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/ticks.h"

#include "widgets/figures/number_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kSlack = 1e-9;  // of a step: a tick on the border counts as inside

std::vector<double> multiples(double low, double high, double step) {
    std::vector<double> out;
    const double first = std::ceil(low / step - kSlack), last = std::floor(high / step + kSlack);
    for (double k = first; k <= last && out.size() < 1000; ++k) out.push_back(k == 0 ? 0.0 : k * step);
    return out;
}

/// From coarse to fine: the first set with at least min(4, most) values; else the finest that still fits.
template <class Candidates>
std::vector<double> choose(const Candidates& candidates, int most) {
    std::vector<double> best;
    for (const auto& values : candidates) {
        if (static_cast<int>(values.size()) > most) break;
        best = values;
        if (static_cast<int>(best.size()) >= std::min(4, most)) break;
    }
    return best;
}

std::vector<double> linearValues(double low, double high, bool integers, int most) {
    const int top = static_cast<int>(std::ceil(std::log10(high - low)));
    const auto with = [&](std::initializer_list<double> factors) {
        std::vector<std::vector<double>> candidates;
        for (int exponent = top; exponent >= top - 3; --exponent) {
            for (const double factor : factors) {
                const double step = factor * std::pow(10.0, exponent);
                if (!integers || (step >= 1 && step == std::round(step)))
                    candidates.push_back(multiples(low, high, step));
            }
        }
        return choose(candidates, most);
    };
    const auto values = with({5, 2, 1});
    // From 5 to 2 the count can jump from 3 to 9; quarters lie between.
    return static_cast<int>(values.size()) >= std::min(4, most) ? values : with({5, 2.5, 2, 1});
}

std::vector<double> decadeValues(double low, double high, const std::vector<double>& factors) {
    std::vector<double> out;
    const int first = static_cast<int>(std::floor(std::log10(low))),
              last = static_cast<int>(std::ceil(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
        for (const double factor : factors) {
            const double value = factor * std::pow(10.0, exponent);
            if (value >= low * (1 - kSlack) && value <= high * (1 + kSlack)) out.push_back(value);
        }
    }
    return out;
}

std::vector<double> logValues(double low, double high, bool integers, int most) {
    std::vector<std::vector<double>> candidates;
    const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
    const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
    for (const int stride : {100, 50, 20, 10, 5, 3, 2, 1}) {
        std::vector<double> values;
        for (int exponent = first; exponent <= last; ++exponent) {
            if (exponent % stride == 0) values.push_back(std::pow(10.0, exponent));
        }
        candidates.push_back(values);
    }
    candidates.push_back(decadeValues(low, high, {1, 3}));
    candidates.push_back(decadeValues(low, high, {1, 2, 5}));
    candidates.push_back(decadeValues(low, high, {1, 2, 3, 5}));
    candidates.push_back(decadeValues(low, high, {1, 2, 3, 4, 6}));
    candidates.push_back(linearValues(low, high, integers, most));
    if (integers) {
        for (auto& values : candidates) std::erase_if(values, [](double v) { return v != std::round(v); });
    }
    return choose(candidates, most);
}

/// Zero and the powers of two, or every second, third, … where they are more than `most`; linear steps where
/// fewer than four are in the range.
std::vector<double> log1pValues(double low, double high, bool integers, int most) {
    std::vector<double> values;
    for (int stride = 1; stride == 1 || (static_cast<int>(values.size()) > most && stride < 64); ++stride) {
        values.clear();
        if (low <= 0 && high >= 0) values.push_back(0);
        for (int exponent = 0; std::exp2(exponent) <= high; exponent += stride)
            if (std::exp2(exponent) >= low) values.push_back(std::exp2(exponent));
    }
    return values.size() < 4 ? linearValues(low, high, integers, most) : values;
}

/// One notation for a whole linear axis: enough decimals to distinguish neighbours, powers for long numbers.
QString linearLabel(double value, double step, double largest) {
    if (value == 0) return QStringLiteral("0");
    // The exponent of the step's last digit: −1 for 0.2, −2 for 0.25, 2 for 100.
    int last = static_cast<int>(std::floor(std::log10(step) + kSlack));
    const double mantissa = step / std::pow(10.0, last);
    if (std::abs(mantissa - std::round(mantissa)) > 1e-3) --last;
    if (largest >= 1e6 || largest < 1e-3) {
        const int first = static_cast<int>(std::floor(std::log10(std::abs(value)) + kSlack));
        const QString text = QString::number(value, 'e', std::max(0, first - last));
        const auto e = text.indexOf(u'e');
        return powerText(text.left(e + 1) + QString::number(text.mid(e + 1).toInt()));
    }
    return QString::number(value, 'f', std::max(0, -last));
}

/// An axis that leaves 0.01 … 100 writes all its powers of ten as powers, but for 1 and 10.
QString logLabel(double value, int digits, bool as_powers) {
    const bool plain = value > 1 - kSlack && value < 100 * (1 - kSlack);
    if (!as_powers || plain) return powerText(numberText(value, digits));
    const int exponent = static_cast<int>(std::floor(std::log10(value) + kSlack));
    const double mantissa = value / std::pow(10.0, exponent);
    return powerText(numberText(mantissa, digits) + u'e' + QString::number(exponent));
}

}  // namespace

std::vector<Tick> niceTicks(double low, double high, Scale scale, bool integers, int most) {
    std::vector<Tick> ticks;
    const auto values = scale == Scale::Log     ? logValues(low, high, integers, most)
                        : scale == Scale::Log1p ? log1pValues(low, high, integers, most)
                                                : linearValues(low, high, integers, most);
    const double largest = std::max(std::abs(low), std::abs(high));
    // On a log axis, as many digits as distinguish neighbours: 1e-7, 0.01, 10, but 1.2341, 1.2342.
    int digits = 5;
    const auto same_text = [&](double a, double b) { return numberText(a, digits) == numberText(b, digits); };
    while (digits < 15 && std::adjacent_find(values.begin(), values.end(), same_text) != values.end())
        ++digits;
    const bool as_powers = std::any_of(values.begin(), values.end(), [](double v) {
        return v < 0.01 * (1 - kSlack) || v > 100 * (1 + kSlack);
    });
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double step = values.size() > 1 ? values[1] - values[0] : largest;
        const QString label = scale == Scale::Log ? logLabel(values[i], digits, as_powers)
                                                  : linearLabel(values[i], step, largest);
        ticks.push_back({values[i], label, false});
    }
    if (scale == Scale::Log1p) {
        for (double v = 1; v <= high; v *= 2)
            if (v >= low && !std::count(values.begin(), values.end(), v)) ticks.push_back({v, {}, true});
    }
    if (scale == Scale::Log && std::log10(high / low) <= 5 && !integers) {
        const auto labelled = [&](double v) {
            return std::any_of(values.begin(), values.end(),
                               [v](double t) { return std::abs(t / v - 1) < kSlack; });
        };
        for (const double v : decadeValues(low, high, {1, 2, 3, 4, 5, 6, 7, 8, 9})) {
            if (!labelled(v)) ticks.push_back({v, {}, true});
        }
    }
    return ticks;
}

}  // namespace normscope::widgets
