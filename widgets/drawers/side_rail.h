// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>

namespace normscope::app {

class Lab;

/// The right rail: each run with its differences, findings and events.
class SideRail : public QTextBrowser {
    Q_OBJECT
  public:
    explicit SideRail(Lab& lab, QWidget* parent = nullptr);

  protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();

    Lab& lab_;
};

}  // namespace normscope::app
