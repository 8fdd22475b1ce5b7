// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/row_list.h"

namespace normscope::widgets {

class RunsDrawer;

/// The mime type of rows that are dragged: the paths of their recordings as UTF-8, one a line.
inline constexpr char kRecordingsMime[] = "application/x-normscope-recordings";

/// The rows of the drawer: outcome, name and details with the curve of the loss. Rows are dragged as
/// kRecordingsMime, and for other programs as the URLs of their files.
class RecordingList : public RowList {
    Q_OBJECT
  public:
    explicit RecordingList(RunsDrawer& drawer);

  Q_SIGNALS:
    void addRequested();    ///< Enter or a double click
    void trashRequested();  ///< Delete

  protected:
    int rowHeight(int row) const override;
    void paintRow(const RowPaint& paint, int row) override;
    QString describe(const QString& id) const override;
    QString toolTipOf(const QString& id) const override;
    QMimeData* mimeData(const QList<QListWidgetItem*>& items) const override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    RunsDrawer& drawer_;
};

}  // namespace normscope::widgets
