// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/samples.h"

#include <functional>

namespace normscope::widgets {

/// One value per layer and head of a sample, [D, H].
struct HeadValues {
    int layers = 0, heads = 0;
    std::vector<double> value;
};

/// Reads a panel's quantity from a sample; nullopt where the sample lacks it.
using HeadValuesOf = std::function<std::optional<HeadValues>(const ProbeResult&)>;

/// An array [D, H], or entry `at` of the last axis of an array [D, H, k].
std::optional<HeadValues> headValues(const ProbeResult& sample, const std::string& array);
std::optional<HeadValues> headValues(const ProbeResult& sample, const std::string& array, std::size_t at);

/// A heat map layer × head per run side by side. The colours span the data of all runs shown, `least_span` at
/// least, so that equal values have equal colours and round-off is invisible. Cells print the value (a share
/// as "37 %"); cells that are not finite stay empty and a chip counts them. Fills subtitle, scale labels and
/// summary.
void drawHeadMaps(Figure& figure, const PanelInput& input, const std::string& probe,
                  const HeadValuesOf& values, bool is_share, double least_span);

/// A line per layer, the mean over its finite heads, over the steps, a plot per run on a linear axis.
void drawHeadsOverSteps(Figure& figure, const PanelInput& input, const std::string& probe,
                        const HeadValuesOf& values);

}  // namespace normscope::widgets
