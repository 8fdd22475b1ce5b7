// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/why.h"
#include "widgets/common/focus_return.h"

#include <QFrame>
#include <QString>

class QLabel;
class QVBoxLayout;

namespace normscope::widgets {

/// What a WhyBox states of a failed run.
struct WhyContent {
    QString name;
    int hue = 0;    ///< index of the run's colour
    QString title;  ///< "Stalled at the unigram entropy"
    WhyCard card;
};

/// Under a failed run's column of the findings band: its Why card, each statement with a button for the plot
/// that shows its number, and what was not measured. It lies over the panels, in no layout; Esc and its cross
/// hide it. Interface thread.
class WhyBox : public QFrame {
    Q_OBJECT
  public:
    explicit WhyBox(QWidget* window);

    /// Shows it with its corner there, inside the window, and gives it the focus.
    void showAt(const QPoint& top_left, const WhyContent& content);
    void setVisible(bool visible) override;
    /// All that is read in it, a statement a line.
    QString text() const;

  Q_SIGNALS:
    /// Of the button of a statement: the panel, its option "quantity" (may be empty), the step.
    void plotRequested(const QString& panel, const QString& quantity, qint64 step);

  protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void addHead(const WhyContent& content);
    void addLine(const WhyLine& line);
    QLabel* addText(const QString& text, int px, bool muted);

    QVBoxLayout* column_ = nullptr;
    QWidget* page_ = nullptr;  ///< of the present content
    QString text_;
    FocusReturn focus_;
};

}  // namespace normscope::widgets
