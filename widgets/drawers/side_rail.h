// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QTextBrowser>
#include <vector>

namespace normscope::widgets {

/// What the rail states of a run, or of a group of seeds.
struct RailRun {
    QString name;
    QStringList differences;  ///< to the other runs
    QStringList findings, events;
    bool operator==(const RailRun&) const = default;
};

/// The right rail: each run, in the colour of its place, with its differences, findings and events.
class SideRail : public QTextBrowser {
    Q_OBJECT
  public:
    explicit SideRail(QWidget* parent = nullptr);

    void setRuns(std::vector<RailRun> runs);

  Q_SIGNALS:
    void shown();

  protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void write();

    std::vector<RailRun> runs_;
};

}  // namespace normscope::widgets
