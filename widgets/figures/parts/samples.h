// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// One sample that a panel draws, its run and its line kind.
struct ShownSample {
    const RunData* run = nullptr;
    int index = 0;  ///< of the run in PanelInput::runs
    LineKind kind = LineKind::Measured;
    const ProbeResult* sample = nullptr;

    /// A sample of the run itself, not a ghost or a preview; only these are compared and summarised.
    bool own() const { return kind == LineKind::Measured || kind == LineKind::Draft; }
};

/// The sample each ghost, preview and run shows of a probe, in drawing order (runs on top). A run without one
/// is skipped.
///
/// At a scrubbed step these are the samples of that step; of a run that has none there the nearest one, of
/// two the earlier (markAges); of ghosts that step's alone. Following the newest they are those of the newest
/// step that all runs under comparison share; where they share none, each run's newest. A run that ended
/// before the others, or has not begun while they have, is not under comparison: it shows its own newest.
std::vector<ShownSample> shownSamples(const PanelInput& input, const std::string& probe);

/// Why a run of the input has no sample of a probe to show, in a few words: "not measured yet, M measures it
/// at this step".
QString whyMissing(const PanelInput& input, std::size_t run, const std::string& probe);

/// The array of that name, or nullptr where it is absent, of another rank, or its data do not fill its shape.
const NamedArray* arrayOf(const ProbeResult& sample, const std::string& name, std::size_t rank);

/// "at step 20", or "at step 20 (Post-LN: 18)" where a run shows its own newest, or "at steps 18 to 30" where
/// that would be long; empty without samples of the runs' own.
QString atStep(const std::vector<ShownSample>& samples);

/// Names the step of every mark that belongs to a run's own sample and does not name one yet.
void nameSteps(Figure& figure, const std::vector<ShownSample>& samples);

/// Marks what is of another step than the scrubbed one as aged and names its step and its age in chips: "of
/// step 8, 1 step later". Sets Figure::unmeasured where it does, or where nothing is drawn, and some run made
/// that step. The marks' steps are named (nameSteps), the figure's runs too.
void markAges(Figure& figure, const PanelInput& input, const PanelInfo& panel);

/// Names the batch that was measured where runs of another program are among those shown: they record their
/// training batch, Normscope's runs the held-out batch.
void nameBatch(Figure& figure, const PanelInput& input);

/// Names in subtitle, formula and summary the places that samples are of, where they are of selected ones
/// alone ("only blocks.0, blocks.11"); fills empty_text where none of these is drawn by the figure.
void annotateSelection(Figure& figure, const PanelInput& input, const std::vector<std::string>& probes);

/// Names the steps (nameSteps), fills empty_text where no run of the input has a sample that could be drawn,
/// and adds a chip to the first plot for each run that has none while others do ("Post-LN: not measured yet,
/// M measures it at this step"). `drawn[i]`: whether run i is drawn.
void annotateMissing(Figure& figure, const PanelInput& input, const std::string& probe,
                     const std::vector<bool>& drawn);

}  // namespace normscope::widgets
