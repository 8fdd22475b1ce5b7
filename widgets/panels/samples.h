// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// One sample that a panel draws, whose it is and how it is to be drawn.
struct ShownSample {
    const RunData* run = nullptr;
    int index = 0;  ///< of the run in PanelInput::runs
    LineKind kind = LineKind::Measured;
    const ProbeResult* sample = nullptr;

    /// A run's own picture, not a ghost or a preview: these are compared, counted and spoken of.
    bool own() const { return kind == LineKind::Measured || kind == LineKind::Draft; }
};

/// The sample each ghost, preview and run shows of a probe, in drawing order (runs on top). A run without one
/// is left out.
std::vector<ShownSample> shownSamples(const PanelInput& input, const std::string& probe);

/// The array of that name, or nullptr where it is absent, of another rank, or its data do not fill its shape.
const NamedArray* arrayOf(const ProbeResult& sample, const std::string& name, std::size_t rank);

/// "at step 20", or "at step 20 (Post-LN: 18)" where the samples differ; empty without samples of the runs'
/// own.
QString atStep(const std::vector<ShownSample>& samples);

/// Fills empty_text where no run of the input has a sample that could be drawn, and adds a chip to the first
/// plot for each run that has none while others do. `drawn[i]` says whether run i is in the picture.
void sayWhatIsMissing(Figure& figure, const PanelInput& input, const std::string& probe,
                      const std::vector<bool>& drawn);

}  // namespace normscope::widgets
