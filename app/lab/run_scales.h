// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/figure_key.h"
#include "widgets/figures/parts/run_scale.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// The scales of the panels' figures over the whole run (widgets::RunScale). They are kept while the runs'
/// data grow: a new sample costs the figure of its step. Of a run that was opened there are many such figures
/// at once; what does not fit into the budget of a call is included by later ones. Interface thread.
class RunScales {
  public:
    using Build = std::function<widgets::Figure(const widgets::PanelInput&)>;

    /// A call of apply() takes about this long at most, and includes one sample at least. By default a
    /// quarter of a frame.
    explicit RunScales(std::chrono::milliseconds budget = std::chrono::milliseconds(4)) : budget_(budget) {}

    /// Puts a figure of this input on its scale, as far as it is known. `build` makes the figure of an input
    /// at another step. Returns whether the scale is complete.
    bool apply(widgets::Figure& figure, const widgets::FigureKey& key, const widgets::PanelInput& input,
               const Build& build);
    /// The panels whose scales are not complete.
    std::vector<std::pair<std::string, widgets::PanelOptions>> incomplete() const;
    /// Changes whenever the scale of this key has changed after it was applied: a part of the figure's key.
    std::size_t version(const widgets::FigureKey& key) const;

  private:
    struct Entry {
        widgets::FigureKey key;                        ///< of the runs and options alone
        std::map<std::int64_t, std::size_t> included;  ///< samples, by step
        widgets::RunScale scale;
        bool complete = false;
        std::size_t version = 0;
    };
    static widgets::FigureKey identity(widgets::FigureKey key);
    Entry* find(const widgets::FigureKey& identity);

    std::chrono::milliseconds budget_;
    std::vector<Entry> entries_;
};

}  // namespace normscope::app
