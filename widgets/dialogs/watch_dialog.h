// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/watch_spec.h"

#include <QDialog>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace normscope::widgets {

/// The watchpoints of the runs: a row each with quantity, comparator and value. OK is enabled where every row
/// is valid; else the first reason is shown.
class WatchDialog : public QDialog {
    Q_OBJECT
  public:
    /// `runs` is how the dialog names the runs that it acts on.
    WatchDialog(const std::vector<WatchSpec>& watch, const QString& runs, QWidget* parent);

    /// As shown; of the valid rows.
    std::vector<WatchSpec> watch() const;

  private:
    struct Row {
        QComboBox *quantity, *is;
        QLineEdit* value;
        QPushButton* remove;
    };
    void add(const WatchSpec& spec);
    void remove(QPushButton* button);
    void number();
    void check();

    std::vector<Row> rows_;
    std::vector<WatchSpec> valid_;
    QGridLayout* grid_;
    QLabel *none_, *problem_;
    QPushButton *add_, *ok_;
    int next_line_ = 1;  ///< of the grid: those of removed rows stay empty
};

}  // namespace normscope::widgets
