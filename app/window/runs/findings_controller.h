// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/dialogs/command_search.h"

#include <QObject>
#include <vector>

class QPoint;
class QWidget;

namespace normscope::widgets {
class FindingsBand;
class WhyBox;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// Connects the findings band to the lab: its columns are of the lab's runs or groups, its remedies those of
/// the failed run, which it drafts and tries, and a failed run's Why card.
class FindingsController : public QObject {
    Q_OBJECT
  public:
    /// Makes the band, a child of `parent`.
    FindingsController(Lab& lab, QWidget* parent);
    widgets::FindingsBand* band() const { return band_; }
    /// The Why card of the selected run, else of the first one that failed at the shown step; else a line.
    void explainFailure();
    /// What can be tried with the failed run, for Ctrl+K.
    std::vector<widgets::SearchEntry> commands();

  Q_SIGNALS:
    /// Of a Why card: the panel that shows a number, its option "quantity" (may be empty), the step.
    void plotRequested(const QString& panel, const QString& quantity, qint64 step);
    /// A line to show.
    void noted(const QString& line);

  private:
    void showWhy(int group, const QPoint& below);

    Lab& lab_;
    widgets::FindingsBand* band_;
    widgets::WhyBox* why_;
};

}  // namespace normscope::app
