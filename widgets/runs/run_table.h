// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/nan.h"
#include "core/train/outcome.h"
#include "widgets/drawers/drawer.h"

#include <QString>
#include <cstdint>
#include <vector>

class QLabel;
class QPushButton;
class QTableWidget;

namespace normscope::widgets {

/// A line of the table of runs. Losses in nat, NaN where there is none.
struct RunTableRow {
    QString id, name;
    int colour = 0;   ///< index of its hue
    QString differs;  ///< the keys in which it differs from the others, with their values
    RunState state = RunState::Prepared;
    std::int64_t steps = 0;  ///< that it has trained
    double loss = kNaN;      ///< mean of the last 20 training batches
    double held_out = kNaN;  ///< the newest
    double best = kNaN;      ///< lowest mean of 20 training batches in a row
    double gradient = kNaN;  ///< ‖∂L/∂h‖ after layer 1 over that after the last, mean of the last 20 batches
    QString first_event;  ///< "step 5: …", the first that is not a checkpoint; empty without
    QString note;         ///< written by the user
};

/// All runs of the comparison in a table over the panels: sorted by any column, the selected run marked; a
/// row that is chosen selects its run.
class RunTable : public Drawer {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not.
    RunTable(QWidget* over, QWidget* parent);

    /// Shows it, with the table focused.
    void open();
    /// The order by a column is kept, and the current row until another run is selected.
    void setRows(const std::vector<RunTableRow>& rows, const QString& selected);
    QTableWidget* table() const { return table_; }

  Q_SIGNALS:
    void runChosen(const QString& id);
    void csvRequested();

  private:
    void choose();
    QString idAt(int row) const;  ///< empty without such a row

    QLabel* title_;
    QTableWidget* table_;
    QPushButton* csv_;
    std::vector<RunTableRow> rows_;
    QString selected_;
};

/// The table as CSV (RFC 4180), a line of names first; numbers in full, empty where there is none.
QByteArray runTableCsv(const std::vector<RunTableRow>& rows);

}  // namespace normscope::widgets
