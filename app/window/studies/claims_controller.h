// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <cstddef>

namespace normscope::widgets {
class ClaimsDrawer;
class KnobPanel;
class PanelGrid;
}  // namespace normscope::widgets

namespace normscope::app {

class ClaimsCheck;
class Lab;
class SweepController;
struct CheckedClaims;

/// The papers' statements in the window: connects their drawer with the check of the selected run, and leads
/// from a statement to its knob and its panel. Interface thread.
class ClaimsController : public QObject {
    Q_OBJECT
  public:
    /// The drawer is a child of `window` and lies over the panels.
    ClaimsController(Lab& lab, widgets::PanelGrid& panels, widgets::KnobPanel& knobs, SweepController& sweeps,
                     QWidget* window);

    widgets::ClaimsDrawer* drawer() const { return drawer_; }
    /// Opens the drawer over the panels, or closes it.
    void toggle();

  private:
    /// Only while the drawer is visible.
    void refresh();
    void takeResult(const QString& id);
    void showState();
    /// The panel of a claim's quantity, at the step at which it was measured.
    void showClaim(const QString& id);

    Lab& lab_;
    ClaimsCheck& check_;
    widgets::PanelGrid& panels_;
    SweepController& sweeps_;
    widgets::ClaimsDrawer* drawer_;
    // What the rows show: while a run trains or a knob is dragged they mostly stay as they are.
    const CheckedClaims* shown_ = nullptr;
    QString outdated_;
    std::size_t results_ = 0;
    bool current_ = false;  ///< false: the rows are not followed
};

}  // namespace normscope::app
