// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QTextBrowser;

namespace normscope::widgets {
struct Figure;
}

namespace normscope::app {

/// The help on a panel: quantity, formula, source, erratum, and what it shows now. It lies over the right end
/// of an area, in no layout: it shifts nothing.
class HelpDrawer : public QFrame {
    Q_OBJECT
  public:
    static constexpr int kWidth = 400;

    /// `parent` contains `over`, directly or not.
    HelpDrawer(QWidget* over, QWidget* parent);

    void explain(const widgets::Figure& figure);
    QString text() const;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void place();

    QWidget* over_;
    QLabel* title_;
    QTextBrowser* text_;
};

}  // namespace normscope::app
