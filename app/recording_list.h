// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListWidget>

namespace normscope::app {

class RunsDrawer;

/// The rows of the drawer: outcome, name and details with the curve of the loss. Rows are dragged as the URLs
/// of their files.
class RecordingList : public QListWidget {
    Q_OBJECT
  public:
    explicit RecordingList(RunsDrawer& drawer);

  protected:
    QMimeData* mimeData(const QList<QListWidgetItem*>& items) const override;
};

}  // namespace normscope::app
