// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/run_difference.h"
#include "widgets/drawers/drawer.h"

#include <QString>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QTableWidget;

namespace normscope::widgets {

/// A run that may be compared with another.
struct DifferenceRun {
    QString id, name;
    int colour = 0;  ///< index of its hue
    bool operator==(const DifferenceRun&) const = default;
};

/// Where two runs differ (core/findings/run_difference.h), over the panels: the first step and place, the
/// settings in which their recipes differ, their distance at later steps.
class DifferenceDrawer : public Drawer {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not.
    DifferenceDrawer(QWidget* over, QWidget* parent);

    /// Shows it, with the first run's box focused.
    void open();
    /// The runs to choose from, and the two that are chosen, by their indices; −1 for none.
    void setRuns(const std::vector<DifferenceRun>& runs, int a, int b);
    /// Of the two; none where there are not two runs.
    void setDifference(const std::optional<RunDifference>& difference);

  Q_SIGNALS:
    void runsChosen(const QString& a, const QString& b);
    void stepRequested(qint64 step);

  private:
    void choose();
    void showTexts();
    void fillSettings();
    void fillSteps();
    void copyText() const;

    QComboBox *a_, *b_;
    QLabel *first_, *beyond_, *rest_;
    QPushButton *show_, *copy_;
    QTableWidget *settings_, *steps_;
    std::vector<DifferenceRun> runs_;  ///< that the boxes have
    std::optional<RunDifference> difference_;
};

}  // namespace normscope::widgets
