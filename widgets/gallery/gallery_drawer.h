// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/list_drawer.h"
#include "widgets/gallery/gallery_list.h"

namespace normscope::widgets {

class GalleryDetails;

/// The papers' figures and tables as sweeps: the paper's statement next to what the runs give. Nothing is
/// trained before it is asked for.
class GalleryDrawer : public ListDrawer {
    Q_OBJECT
  public:
    static constexpr int kWidth = 720;

    /// `parent` contains `over`, directly or not.
    GalleryDrawer(QWidget* over, QWidget* parent);

    /// Shows it, with the list focused. An entry that is named is selected, whatever the filters are.
    void open(const QString& id = {});
    void setRows(std::vector<GalleryRow> rows);
    void setRow(GalleryRow row);
    GalleryList* list() const { return entries_; }
    GalleryDetails* details() const { return details_; }

  Q_SIGNALS:
    void runRequested(const QString& id);       ///< its runs that have not ended
    void runAgainRequested(const QString& id);  ///< all of them, in a new folder
    void stopRequested();
    void sweepRequested(const QString& id);
    void addRequested();  ///< an entry of the user, from a file
    void removeRequested(const QString& id);
    void exportRequested(const QString& id);  ///< the figure of the details

  protected:
    QStringList allIds() const override;
    QString searched(const QString& id) const override;
    bool passes(const QString& id) const override;
    QString emptyText() const override;

  private:
    void fillPapers();

    GalleryList* entries_;
    QComboBox* paper_;
    GalleryDetails* details_;
};

}  // namespace normscope::widgets
