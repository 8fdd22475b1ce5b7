// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/drawer.h"

class QLabel;
class QPlainTextEdit;

namespace normscope::widgets {

/// Two texts to write in: about the comparison, and about the selected run. Esc closes it, Tab leaves a text.
class NotesDrawer : public Drawer {
    Q_OBJECT
  public:
    NotesDrawer(QWidget* over, QWidget* parent);

    /// Shows it, with the run's text focused.
    void open();
    /// What is written. A text that is being typed in keeps its cursor.
    void show(const QString& of_comparison, const QString& run, const QString& of_run);

  Q_SIGNALS:
    void comparisonEdited(const QString& text);
    void runEdited(const QString& text);

  private:
    QPlainTextEdit *comparison_, *run_;
    QLabel* run_name_;
};

}  // namespace normscope::widgets
