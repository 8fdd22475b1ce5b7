// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/drawer.h"

class QLabel;
class QTextBrowser;

namespace normscope::widgets {

struct Figure;

/// The help on a panel: what to look for, what that means with an example, quantity, formula, source,
/// erratum, and what it shows now.
class HelpDrawer : public Drawer {
    Q_OBJECT
  public:
    static constexpr int kWidth = 400;

    /// `parent` contains `over`, directly or not.
    HelpDrawer(QWidget* over, QWidget* parent);

    void explain(const Figure& figure);
    /// All of it, formulas as they are typed.
    QString text() const;

  private:
    QString exampleHtml(const QString& panel);

    QLabel* title_;
    QTextBrowser* text_;
    QString plain_;
};

}  // namespace normscope::widgets
