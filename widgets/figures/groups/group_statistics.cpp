// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/group_statistics.h"

#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace normscope::widgets {

namespace {

struct Word {
    Spread spread;
    const char* word;
    const char* text;
};
constexpr Word kWords[] = {{Spread::MinMax, "minmax", "minimum to maximum"},
                           {Spread::Quartiles, "iqr", "quartiles"},
                           {Spread::StandardError, "se", "± standard error"},
                           {Spread::None, "none", ""}};

std::pair<double, double> band(const std::vector<double>& sorted, double median, Spread spread, Scale scale) {
    switch (spread) {
        case Spread::MinMax:
            return {sorted.front(), sorted.back()};
        case Spread::Quartiles:
            return {quantile(sorted, 0.25), quantile(sorted, 0.75)};
        case Spread::StandardError: {
            if (scale == Scale::Linear) {
                const double error = standard_error(sorted);
                return {median - error, median + error};
            }
            if (sorted.front() <= 0) return {kNaN, kNaN};
            std::vector<double> logarithms;
            for (const double v : sorted) logarithms.push_back(std::log(v));
            const double factor = std::exp(standard_error(logarithms));
            return {median / factor, median * factor};
        }
        case Spread::None:
            break;
    }
    return {kNaN, kNaN};
}

}  // namespace

Spread spreadFromWord(const std::string& word) {
    std::string allowed;
    for (const Word& known : kWords) {
        if (word == known.word) return known.spread;
        allowed += (allowed.empty() ? "" : ", ") + std::string(known.word);
    }
    throw InputError("band", "'" + printable(word) + "' is not known", allowed);
}

std::string spreadWord(Spread spread) {
    return std::find_if(std::begin(kWords), std::end(kWords),
                        [spread](const Word& known) { return known.spread == spread; })
        ->word;
}

QString spreadText(Spread spread, Scale scale) {
    const Word* known = std::find_if(std::begin(kWords), std::end(kWords),
                                     [spread](const Word& word) { return word.spread == spread; });
    const QString text = QString::fromUtf8(known->text);
    return spread == Spread::StandardError && scale == Scale::Log ? text + " of the logarithms" : text;
}

int GroupCurve::fewest() const {
    return runs.empty() ? 0 : *std::min_element(runs.begin(), runs.end());
}

GroupCurve groupCurve(const std::vector<const Curve*>& curves, Spread spread, Scale scale) {
    std::map<double, std::vector<double>> values;
    for (const Curve* curve : curves)
        for (std::size_t i = 0; i < std::min(curve->x.size(), curve->y.size()); ++i) {
            auto& here = values[curve->x[i]];
            if (std::isfinite(curve->y[i])) here.push_back(curve->y[i]);
        }
    GroupCurve group;
    for (auto& [x, here] : values) {
        std::sort(here.begin(), here.end());
        const double median = quantile(here, 0.5);
        const auto [low, high] = here.empty() ? std::pair(kNaN, kNaN) : band(here, median, spread, scale);
        group.x.push_back(x);
        group.median.push_back(median);
        group.low.push_back(low);
        group.high.push_back(high);
        group.runs.push_back(static_cast<int>(here.size()));
    }
    return group;
}

}  // namespace normscope::widgets
