// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/held_out_loss.h"
#include "widgets/figures/parts/panel.h"

#include <QString>
#include <optional>
#include <vector>

namespace normscope::widgets {

/// One number of the findings band.
struct BandNumber {
    QString value;      ///< "3.64", "inf", "NaN"; "–" where it was not measured
    QString unit = {};  ///< "nat"; empty where it has none
    QString caption;    ///< "loss, step 8"
    /// Under the caption: "at step 6" where it is of another step than the first number; of the loss in
    /// training the held-out one, "held-out 1.82, step 150".
    QString note = {};
    QString tip;         ///< 4 digits ± the standard error, the batch, the step; or why there is no number
    bool draft = false;  ///< of part of the batch, or of the knobs before

    bool operator==(const BandNumber&) const = default;
};

/// The loss that the step table has for a step, finite or not; nullopt where it has no such row.
std::optional<double> lossAt(const RunData& run, std::int64_t step);

/// "Held-out loss at step 150: 1.82 ± 0.02 nat, mean of 64 held-out sequences".
QString heldOutText(const HeldOutLoss& held_out);

/// The loss of the probes' batch in a sample of the probe `gradients`, of fewer sequences than HeldOutLoss;
/// nullopt where it lacks it.
std::optional<double> heldOutLossOf(const ProbeResult& sample);

/// The numbers of one run at the shown step, three: its loss there (the step table, with its newest held-out
/// loss; before training that of the probes' batch), the RMS of the last
/// hidden state and the gradient of layer 1 over that of the last one. The latter two are of the samples that
/// the panels of these inputs show (shownSamples). `growth` and `gradients` are the inputs of these panels,
/// `run` is an index of their runs. Pure; any thread.
std::vector<BandNumber> runNumbers(const PanelInput& growth, const PanelInput& gradients, std::size_t run);

}  // namespace normscope::widgets
