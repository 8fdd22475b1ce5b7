// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"
#include "core/findings/remedies.h"
#include "core/run/draft.h"
#include "core/run/shown_remedies.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// The remedies of a failed run, their drafts as they arrive, and the runs of "Try all".
struct RemedyTrials {
    std::string run;  ///< its id
    Recipe recipe;    ///< as it was trained
    Outcome outcome;
    DraftControl control;  ///< its own first steps, as many as the longest draft has
    std::string obstacle;  ///< why no remedy can be tried, in one line; empty if they can
    std::vector<Remedy> remedies;
    std::vector<std::optional<DraftResult>> drafts;  ///< of each; nullopt: not done
    double seconds = 0;              ///< of all drafts, as long as the run's own steps took; NaN if unknown
    bool requested = false;          ///< the drafts are, or were, with the engine
    std::vector<std::string> tried;  ///< ids of the runs of "Try all", in the order of shown()

    /// Whether these are the trials of the run as it is.
    bool match(const LabRun& of) const;
    bool done() const;
    /// Indices of the remedies to show, of the drafts that are done: shown_remedies().
    std::vector<std::size_t> shown() const;
    /// Those whose draft is done and not enough, in the order of the list.
    std::vector<std::size_t> not_enough() const;
};

/// The trials of a failed run, without drafts.
RemedyTrials trialsOf(const LabRun& run);

}  // namespace normscope::app
