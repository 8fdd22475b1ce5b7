// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/row_list.h"
#include "widgets/gallery/gallery_texts.h"

#include <vector>

namespace normscope::widgets {

/// The rows of the gallery: title, place, runs and their state, the verdicts of the measures. The first row
/// of each paper has the paper's name above it.
class GalleryList : public RowList {
    Q_OBJECT
  public:
    GalleryList();

    /// All entries, of which setIds() shows some.
    void setRows(std::vector<GalleryRow> rows);
    /// What is known of one of them has changed.
    void setRow(GalleryRow row);
    const std::vector<GalleryRow>& rows() const { return rows_; }
    const GalleryRow* find(const QString& id) const;  ///< null: none

  protected:
    int rowHeight(int row) const override;
    void paintRow(const RowPaint& paint, int row) override;
    QString describe(const QString& id) const override;

  private:
    /// The paper's name above this row; empty: it is not the first of its paper.
    QString heading(int row) const;

    std::vector<GalleryRow> rows_;
};

}  // namespace normscope::widgets
