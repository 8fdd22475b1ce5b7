// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/axis_range.h"
#include "widgets/figures/parts/panel.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace normscope::widgets {

/// What the axes and the colours of a panel span over all measured steps of its runs, so that they stay in
/// place while the user scrubs: a collapse is then a curve that falls, not other tick labels. A panel is a
/// pure function of its input, so the figures of those steps are all that it needs.
class RunScale {
  public:
    /// Joins what this figure spans. Plots over steps are skipped: they hold the whole run anyway.
    void include(const Figure& figure);
    /// Puts the figure on the scale of all that were included, and names it in the subtitle if these were of
    /// several steps.
    void applyTo(Figure& figure, bool several) const;

  private:
    struct Spans {
        std::optional<Range> x, y, fixed_y, colour;
        double ratio = 0;  ///< of a strip of ratios
    };
    /// Small multiples share their axes; strips of ratios have one of their own, and so has each scale.
    using Key = std::tuple<std::size_t, bool, Scale>;
    static Key keyOf(const Figure& figure, std::size_t plot);

    std::map<Key, Spans> spans_;
};

/// How many samples of the panel's probes the runs have, by step. Empty for a panel whose axes hold the whole
/// run or shall span one step (kAxesOption), and before training.
std::map<std::int64_t, std::size_t> scaledSteps(const PanelInfo& panel, const PanelInput& input);

/// `figure`, which is of `input`, on the scale of all measured steps of its runs; `build` makes the figure of
/// an input at another step.
Figure onRunScale(Figure figure, const PanelInfo& panel, const PanelInput& input,
                  const std::function<Figure(const PanelInput&)>& build);

}  // namespace normscope::widgets
