// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/samples.h"

#include <functional>
#include <optional>

namespace normscope::widgets {

/// One quantity of one sample along the depth.
struct Profile {
    int depth = 0;                            ///< layers D
    std::vector<double> x, y;                 ///< x as in depth_axis.h
    std::vector<double> error = {};           ///< of y: the sample's array NAME_error; empty if absent
    std::vector<double> low = {}, high = {};  ///< the quartiles that y is the median of; empty if it is not
};

/// Reads a panel's quantity from a sample; nullopt where the sample lacks it.
using ProfileOf = std::function<std::optional<Profile>(const ProbeResult&)>;

/// An array over hidden states, [2D+1].
std::optional<Profile> hiddenProfile(const ProbeResult& sample, const std::string& array);

/// An array over layers, [D], or sub-layers, [2D], each entry at the x of the hidden state that it produces;
/// `states`: how many hidden states an entry goes over, 2 or 1.
std::optional<Profile> endProfile(const ProbeResult& sample, const std::string& array, int states);

/// An array over sub-layers, [D, 2], each at the x of the hidden state that it produces.
std::optional<Profile> sublayerProfile(const ProbeResult& sample, const std::string& array);

/// x = depth: one line a run in the first plot on a log axis, its error as a band where that is wider, or its
/// quartiles, ▲ at bad layers, and below it the ratio strip. Fills subtitle, x names and empty_text. The y
/// axis is labelled by figure.quantity and figure.unit. `array`: what the profile reads entry by entry, whose
/// band of healthy runs is drawn below; empty: none.
void drawOverDepth(Figure& figure, const PanelInput& input, const std::string& probe,
                   const ProfileOf& profile, const std::string& array = {});

/// A line of text for each run, in its colour, over a plot of drawOverDepth. None of more than six runs,
/// since they would cover the curves: the figure's summary has them.
void addRunTexts(Plot& plot, const std::vector<Chip>& texts);

/// x = step: a plot per run as small multiples on shared axes, a line per depth position in one sequential
/// map with its colour key; the first, middle, last and selected layers are labelled. More than 64 positions
/// are thinned evenly, with a chip.
void drawOverSteps(Figure& figure, const PanelInput& input, const std::string& probe,
                   const ProfileOf& profile);

/// Linear axes with a line at 0 and no strip of ratios: of values that may be zero or negative.
void makeLinear(Figure& figure, bool over_steps);

/// The option "x" of panels over the depth: "depth" or "step".
PanelOption depthOrStepOption();

}  // namespace normscope::widgets
