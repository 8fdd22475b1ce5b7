// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;

namespace normscope::widgets {
class BarButton;
}

namespace normscope::app {

class SweepRunner;

/// The findings of a sweep: how many runs have ended, with which outcomes, and the lowest final loss. In
/// place of the findings of runs, and as high.
class SweepBand : public QWidget {
    Q_OBJECT
  public:
    explicit SweepBand(SweepRunner& sweeps, QWidget* parent = nullptr);

    void refresh();
    /// What is shown, a line each.
    QStringList texts() const;

  Q_SIGNALS:
    void openBest();  ///< of each row
    void stopOrResume();

  private:
    SweepRunner& sweeps_;
    QLabel *count_, *outcomes_, *best_;
    QProgressBar* progress_;
    widgets::BarButton *open_, *action_;
};

}  // namespace normscope::app
