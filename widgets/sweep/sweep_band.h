// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/sweep/shown_sweep.h"

#include <QWidget>

class QLabel;
class QProgressBar;

namespace normscope::widgets {

class BarButton;

/// The findings of a sweep: how many runs have ended, with which outcomes, and the lowest final loss. In
/// place of the findings of runs.
class SweepBand : public QWidget {
    Q_OBJECT
  public:
    explicit SweepBand(QWidget* parent = nullptr);

    void setSweep(const ShownSweep& sweep, SweepActivity activity);
    /// What is shown, a line each.
    QStringList texts() const;

  Q_SIGNALS:
    void openBest();  ///< of each row
    void stopOrResume();

  private:
    QLabel *count_, *outcomes_, *best_;
    QProgressBar* progress_;
    BarButton *open_, *action_;
};

}  // namespace normscope::widgets
