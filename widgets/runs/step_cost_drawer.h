// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/step_count.h"
#include "widgets/drawers/drawer.h"

#include <QString>
#include <optional>

class QComboBox;
class QLabel;
class QPushButton;
class QTableWidget;

namespace normscope::widgets {

/// What limits a training step on a card (core/run/step_count.h), over the panels: calls, bytes, operations,
/// and the time of each of them there by count.
class StepCostDrawer : public Drawer {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not.
    StepCostDrawer(QWidget* over, QWidget* parent);

    /// Shows it, with the box of cards focused.
    void open();
    /// "h100"
    QString card() const;
    /// A step of this run is being counted.
    void setCounting(const QString& run);
    /// `time`: on the card, one line.
    void setCount(const QString& run, const StepCount& count, const QString& time);
    /// Why there is none, one line.
    void setProblem(const QString& run, const QString& line);

  Q_SIGNALS:
    void cardChosen();

  private:
    void copyText() const;

    QComboBox* cards_;
    QLabel *totals_, *time_, *note_;
    QPushButton* copy_;
    QTableWidget* table_;
};

}  // namespace normscope::widgets
