// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace normscope::app {

class FindingsBand;
class Lab;

/// Connects the findings band to the lab: its columns are of the lab's runs or groups, its remedies those of
/// the failed run, which it drafts and tries.
class FindingsController : public QObject {
    Q_OBJECT
  public:
    /// Makes the band, a child of `parent`.
    FindingsController(Lab& lab, QWidget* parent);
    FindingsBand* band() const { return band_; }

  private:
    FindingsBand* band_;
};

}  // namespace normscope::app
