// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"
#include "widgets/figures/knobs/recipe_diff.h"

#include <QObject>
#include <QStringList>
#include <vector>

class QPoint;

namespace normscope::widgets {
class KnobPanel;
class PanelGrid;
class PresentationFoot;
class RunStrip;
class StackView;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class SweepController;

/// What is compared: the file of the session or the runs, in ever shorter texts: "Pre-LN | Post-LN", "2
/// runs".
QStringList comparisonNames(const Lab& lab);

/// The runs in the window: their chips, the knobs and the stack of the selected one, and the title. One chip,
/// one colour and one lane a group of runs. Interface thread.
class RunsController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::RunStrip* strip;
        widgets::KnobPanel* knobs;
        widgets::StackView* stack;
        widgets::PanelGrid* grid;
        widgets::PresentationFoot* foot;
    };
    RunsController(Lab& lab, const SweepController& sweeps, const Views& views, QWidget* window);

    /// The built-in presets with their display titles.
    const std::vector<widgets::NamedRecipe>& presets() const { return presets_; }
    void show();
    void showTitle();
    /// A copy of the selected run as a further one.
    void addComparison();
    /// Edits the name of the selected run in its chip.
    void renameSelected();

  Q_SIGNALS:
    void runMenuRequested(const QPoint& at);  ///< of the selected run, on the screen

  private:
    void connectLab();
    void connectStrip();
    void connectKnobs();
    void connectStack();
    void showSoon();
    void showLate();
    void showKnobs();
    void showNotices();
    void showRibbons();

    Lab& lab_;
    const SweepController& sweeps_;
    const Views views_;
    QWidget* window_;
    std::vector<widgets::NamedRecipe> presets_;
    widgets::Throttle show_later_;   ///< updates chips, knobs and stack during a drag
    widgets::Throttle title_later_;  ///< updates the title and the ribbons during training
};

}  // namespace normscope::app
