// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListWidget>

namespace normscope::app {

class RunsDrawer;

/// The mime type of rows that are dragged: the paths of their recordings as UTF-8, one a line.
inline constexpr char kRecordingsMime[] = "application/x-normscope-recordings";

/// The rows of the drawer: outcome, name and details with the curve of the loss. Rows are dragged as
/// kRecordingsMime, and for other programs as the URLs of their files.
class RecordingList : public QListWidget {
    Q_OBJECT
  public:
    explicit RecordingList(RunsDrawer& drawer);

  protected:
    QMimeData* mimeData(const QList<QListWidgetItem*>& items) const override;
};

}  // namespace normscope::app
