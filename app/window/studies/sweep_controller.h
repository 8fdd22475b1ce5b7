// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"
#include "widgets/common/throttle.h"

#include <QObject>
#include <QPointer>
#include <QString>

class QStackedWidget;

namespace normscope::widgets {
class Banner;
class KnobPanel;
class SweepBand;
class SweepDialog;
class SweepView;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class SweepRunner;

/// The sweeps of the window: connects the map and the band over it with the laboratory's sweeps, and has the
/// commands for them. Interface thread.
class SweepController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::SweepView* map;
        widgets::SweepBand* band;
        QStackedWidget *area, *upper;  ///< the map or the panels; the band or the findings
        widgets::KnobPanel* knobs;
        widgets::Banner* banner;
    };
    /// `recordings_folder`: new sweeps are made in its folder "sweeps". `window` is the parent of dialogs.
    SweepController(Lab& lab, const Views& views, const QString& recordings_folder, QWidget* window);

    widgets::SweepView* map() const { return views_.map; }
    /// Whether the map is over the panels.
    bool shown() const;
    void show(bool shown);
    /// Reads the sweep of a folder and shows its map.
    void open(const QString& folder);
    void choose();
    /// The dialog of a new sweep.
    void create();
    /// The same over values of this knob's slider between two.
    void createOver(KeyRef key, double low, double high);
    void stopOrResume();
    /// The specification of the sweep on screen as JSON; empty: none.
    QString specification() const;

  Q_SIGNALS:
    void shownChanged(bool shown);
    void opened(const QString& folder);  ///< another sweep is on screen

  private:
    void connectViews();
    void applySweep();
    void showRuns();
    void refreshBand();

    Lab& lab_;
    SweepRunner& sweeps_;
    const Views views_;
    const QString folder_;
    QWidget* window_;
    QPointer<widgets::SweepDialog> dialog_;  ///< of a new sweep, while it is open
    widgets::Throttle later_;                ///< updates the band
};

}  // namespace normscope::app
