// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/spectrum.h"

#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

/// Entry `row` of a count of `rows` Jacobians; nullopt where it was not counted.
std::optional<int> countAt(const ProbeResult& sample, const std::string& name, std::size_t rows,
                           std::size_t row) {
    const NamedArray* counts = sample.find(name);
    if (!counts || counts->data.size() != rows || !std::isfinite(counts->data[row])) return std::nullopt;
    return int(std::lround(counts->data[row]));
}

std::optional<NullCounts> countsOf(const ProbeResult& sample, const std::string& array, std::size_t rows,
                                   std::size_t row) {
    // Structural nulls are the same for every token's block.
    const bool sublayers = array == "sublayer_sv" || array == "mean_sv";
    const bool stack = array == "end_to_end_sv" || array == "position_end_to_end_sv";
    if (!sublayers && !stack && array != "layer_sv") return std::nullopt;
    const std::string prefix = sublayers ? "" : stack ? "end_to_end_" : "layer_";
    if (stack) rows = 1, row = 0;
    const auto exact = countAt(sample, prefix + "exact_nulls", rows, row);
    if (!exact) return std::nullopt;
    const auto epsilon = sublayers ? countAt(sample, "epsilon_directions", rows, row) : std::nullopt;
    return NullCounts{*exact, epsilon.value_or(0),
                      countAt(sample, prefix + "below_resolution", rows, row).value_or(0)};
}

}  // namespace

std::string NullCounts::glyph() const {
    std::string text = exact > 0 || below > 0 ? std::to_string(exact) : "";
    if (below > 0) text += "–" + std::to_string(exact + below);
    if (epsilon > 0) text += "ε";
    return text;
}

Spectrum spectrumOf(const double* values, std::size_t d, std::optional<NullCounts> nulls) {
    Spectrum spectrum;
    std::copy_if(values, values + d, std::back_inserter(spectrum.sigma),
                 [](double v) { return std::isfinite(v); });
    std::sort(spectrum.sigma.begin(), spectrum.sigma.end());
    spectrum.nulls = nulls;
    if (nulls) {
        const auto hidden = std::min(spectrum.sigma.size(), std::size_t(nulls->exact + nulls->below));
        spectrum.sigma.erase(spectrum.sigma.begin(), spectrum.sigma.begin() + std::ptrdiff_t(hidden));
    }
    return spectrum;
}

std::optional<std::vector<Spectrum>> spectraOf(const ProbeResult& sample, const std::string& array) {
    const NamedArray* a = arrayOf(sample, array, 2);
    if (!a) a = arrayOf(sample, array, 1);
    if (!a) return std::nullopt;
    const std::size_t d = a->shape.back(), rows = a->data.size() / d;
    std::vector<Spectrum> spectra;
    for (std::size_t row = 0; row < rows; ++row)
        spectra.push_back(spectrumOf(&a->data[row * d], d, countsOf(sample, array, rows, row)));
    return spectra;
}

}  // namespace normscope::widgets
