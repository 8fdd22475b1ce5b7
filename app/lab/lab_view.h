// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/run_scales.h"
#include "app/lab/state/shown_position.h"
#include "core/recipe/recipe.h"
#include "core/train/outcome.h"
#include "widgets/figures/parts/figure_key.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/figures/runs/run_group.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

class HealthyReference;
class LabState;

/// What of the runs is shown: the step, the selected layer and head, the groups of seeds, and the panels'
/// figures of them. Interface thread.
class LabView : public QObject {
    Q_OBJECT
  public:
    static constexpr qint64 kNewest = ShownPosition::kNewest;

    LabView(LabState& state, const HealthyReference& healthy);

    qint64 step() const;  ///< scrubbed step; kNewest follows the run
    void setStep(qint64 step);
    int selectedLayer() const;
    int selectedHead() const;
    void selectLayer(int layer, int head = -1);

    /// The probes of the panels, which are measured before training.
    void setVisibleProbes(const std::vector<std::string>& probes);
    const std::vector<std::string>& visibleProbes() const;
    bool exact() const;  ///< no requested measurement is running

    widgets::PanelInput panelInput(const std::string& panel, const widgets::PanelOptions& options) const;
    /// A panel's figure: of the runs, or, where runs differ in the seed alone, of their groups. A panel that
    /// cannot draw groups shows one run of each.
    widgets::Figure figure(const std::string& panel, const widgets::PanelOptions& options) const;
    /// Equal keys, equal figures.
    widgets::FigureKey figureKey(const std::string& panel, const widgets::PanelOptions& options) const;

    /// Runs of one recipe and different seeds are a group; references and forks are by themselves. In the
    /// order of their first runs.
    const widgets::RunGroups& groups() const;
    bool groupsSeeds() const { return group_seeds_; }
    void setGroupSeeds(bool grouped);
    /// For each group the selected run, else the one of its seed, else the first.
    std::vector<std::size_t> onePerGroup() const;
    /// What all steps of a recipe take on this machine, from what was measured of its sizes; 0: nothing was.
    double trainingSeconds(const Recipe& recipe) const;

  Q_SIGNALS:
    void scalesChanged();  ///< figures of runs that were opened are on the scale of their whole run now

  private:
    /// Includes what figure() left for later.
    void extendScales();
    widgets::Figure figureOf(const std::string& panel, const widgets::PanelOptions& options,
                             widgets::PanelInput input) const;
    QString hint() const;

    /// What groups() depends on; none: not computed yet.
    struct GroupedRun {
        Recipe recipe;
        std::string name, given_name;
        RunState state;
        bool pinned;
        bool operator==(const GroupedRun&) const = default;
    };
    LabState& state_;
    const HealthyReference& healthy_;
    mutable std::optional<std::vector<GroupedRun>> grouped_runs_;
    mutable widgets::RunGroups groups_;
    mutable RunScales scales_;
    mutable bool extending_ = false;  ///< extendScales() is to come
    bool group_seeds_ = true;
};

}  // namespace normscope::app
