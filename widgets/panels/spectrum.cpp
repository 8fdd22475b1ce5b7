// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/spectrum.h"

#include "widgets/panels/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

double Spectrum::quantile(double q) const {
    if (sigma.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double place = q * double(sigma.size() - 1);
    const std::size_t below = std::size_t(place);
    const std::size_t above = std::min(below + 1, sigma.size() - 1);
    return std::lerp(sigma[below], sigma[above], place - double(below));
}

Spectrum spectrumOf(const double* values, std::size_t d, double epsilon) {
    Spectrum spectrum;
    std::copy_if(values, values + d, std::back_inserter(spectrum.sigma),
                 [](double v) { return std::isfinite(v); });
    std::sort(spectrum.sigma.begin(), spectrum.sigma.end());
    if (spectrum.sigma.empty()) return spectrum;
    const double threshold = std::sqrt(double(d)) * epsilon * spectrum.sigma.back();
    const auto first = std::upper_bound(spectrum.sigma.begin(), spectrum.sigma.end(), threshold);
    spectrum.nulls = int(first - spectrum.sigma.begin());
    spectrum.sigma.erase(spectrum.sigma.begin(), first);
    return spectrum;
}

std::optional<std::vector<Spectrum>> spectraOf(const ProbeResult& sample, const std::string& array,
                                               double epsilon) {
    const NamedArray* a = arrayOf(sample, array, 2);
    if (!a) a = arrayOf(sample, array, 1);
    if (!a) return std::nullopt;
    const std::size_t d = a->shape.back();
    std::vector<Spectrum> spectra;
    for (std::size_t i = 0; i < a->data.size(); i += d)
        spectra.push_back(spectrumOf(&a->data[i], d, epsilon));
    return spectra;
}

}  // namespace normscope::widgets
