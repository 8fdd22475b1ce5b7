// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"

#include <QObject>
#include <vector>

namespace normscope::widgets {
class Banner;
class RunTable;
struct RunTableRow;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// A line for each run of the comparison. Losses are those of a sweep's results.csv (sweep_row).
std::vector<widgets::RunTableRow> runTableRows(const Lab& lab);

/// The table of all runs over the panels: follows the comparison while it is shown, selects the run of a row,
/// and saves it as CSV. Interface thread.
class RunTableController : public QObject {
    Q_OBJECT
  public:
    /// The table is a child of `window` and lies over `area`.
    RunTableController(Lab& lab, QWidget* area, widgets::Banner& banner, QWidget* window);

    widgets::RunTable* table() const { return table_; }
    /// Opens the table, or closes it.
    void toggle();

  private:
    void refresh();  ///< while it is shown
    void saveCsv();

    Lab& lab_;
    widgets::Banner& banner_;
    QWidget* window_;
    widgets::RunTable* table_;
    widgets::Throttle later_;
};

}  // namespace normscope::app
