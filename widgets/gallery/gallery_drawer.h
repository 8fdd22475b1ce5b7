// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/drawer.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace normscope {
struct GalleryEntry;
}

namespace normscope::app {

class GalleryDetails;
class GalleryList;
class GalleryRuns;
class Lab;

/// The papers' figures and tables as sweeps: the paper's statement next to what the runs give. Nothing is
/// trained before it is asked for.
class GalleryDrawer : public Drawer {
    Q_OBJECT
  public:
    static constexpr int kWidth = 720;

    /// `parent` contains `over`, directly or not.
    GalleryDrawer(Lab& lab, QWidget* over, QWidget* parent);

    /// Shows it, with the list focused; reads the folders that have changed. An entry that is named is
    /// selected, whatever the filters are.
    void open(const QString& id = {});
    GalleryList* list() const { return list_; }
    GalleryDetails* details() const { return details_; }

  Q_SIGNALS:
    void sweepRequested(const QString& folder);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fillPapers();
    void filter();
    bool passes(const GalleryEntry& entry) const;
    /// Only while visible.
    void refresh(const QString& id);

    GalleryRuns& runs_;
    QLabel *title_, *empty_;
    QComboBox* paper_;
    QLineEdit* search_;
    GalleryList* list_;
    GalleryDetails* details_;
};

}  // namespace normscope::app
