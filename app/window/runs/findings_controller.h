// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace normscope::widgets {
class FindingsBand;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// Connects the findings band to the lab: its columns are of the lab's runs or groups, its remedies those of
/// the failed run, which it drafts and tries.
class FindingsController : public QObject {
    Q_OBJECT
  public:
    /// Makes the band, a child of `parent`.
    FindingsController(Lab& lab, QWidget* parent);
    widgets::FindingsBand* band() const { return band_; }

  private:
    widgets::FindingsBand* band_;
};

}  // namespace normscope::app
