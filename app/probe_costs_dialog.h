// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/probes_preset.h"

#include <QDialog>
#include <vector>

class QLabel;
class QRadioButton;
class QTableWidget;

namespace normscope::app {

class Lab;

/// The presets of probes, each with the share of the steps' time that it is predicted to take, and what the
/// probes of the selected run took by the clock.
class ProbeCostsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit ProbeCostsDialog(Lab& lab, QWidget* parent);

  private:
    void showPredictions();
    void showTimes();

    Lab& lab_;
    std::vector<QRadioButton*> presets_;
    QLabel* total_;
    QTableWidget* times_;
};

/// "0.4 %", "12 %", "300 %": of a share.
QString percentText(double share);

}  // namespace normscope::app
