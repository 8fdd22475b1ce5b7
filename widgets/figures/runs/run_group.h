// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QString>
#include <QStringList>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace normscope::widgets {

/// Runs that are shown as one: a name, a colour, a median with its spread.
struct RunGroup {
    QString name;                      ///< only what distinguishes it from the other groups
    std::vector<std::size_t> members;  ///< indices of its runs, ascending
    std::vector<std::pair<RunState, int>> outcomes = {};  ///< how many runs are in each state, most first

    std::size_t size() const { return members.size(); }
};

/// A list of runs, divided into groups.
struct RunGroups {
    std::vector<RunGroup> groups;
    QStringList varied = {};  ///< the keys in which runs of one group differ, by their short names: "seed"

    /// Whether a group has more than one run.
    bool any() const;
    /// The index of the group of a run.
    std::size_t groupOf(std::size_t run) const;
    /// "6 groups of 3 runs", "2 groups of 2 to 3 runs".
    QString count() const;
    /// "3 seeds", "2 to 3 runs (seed, lr)": what one group is made of.
    QString members() const;
};

/// Divides runs into groups:
/// - by "seed": runs of one recipe that differ at most in the seed;
/// - by "scheme": runs of one scheme, whatever else differs;
/// - by a recipe's key ("optimizer.lr"): runs in which it has one value.
/// Groups are in the order of their first runs; by a number, in ascending order. Their names contain only
/// what distinguishes them: "Post-LN", "lr 0.003", "Post-LN, lr 0.003". A run without a readable recipe is a
/// group of its own. Planned steps of probes are ignored. Throws InputError for a key that no recipe has.
RunGroups groupRuns(const std::vector<const RunData*>& runs, const std::string& by);

/// As groupRuns by "seed", for runs in a comparison and their present recipes (null: unreadable): a run that
/// is `alone`, and a second one of the same seed (a reference, a fork), is a group of its own under its own
/// name.
RunGroups groupSeeds(const std::vector<const RunData*>& runs, const std::vector<const Recipe*>& recipes,
                     const std::vector<bool>& alone);

/// The counts of outcomes, "2 of 3 stalled" or "1 of 3 diverged, 1 stalled"; empty where all are finished.
QString outcomeText(const RunGroup& group);

}  // namespace normscope::widgets
