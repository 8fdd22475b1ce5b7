// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QDateTime>
#include <QDialog>
#include <vector>

class QLabel;
class QPushButton;
class QTableWidget;

namespace normscope::widgets {

/// What a recording takes on the disk. A plain value.
struct SpaceRow {
    QString path, name;
    RunState state = RunState::Finished;
    QDateTime written;
    qint64 bytes = 0, checkpoint_bytes = 0;
    QString kept = {};  ///< why it cannot be removed now: "in the comparison"; empty: it can
};

/// What each recording takes, with its checkpoints, and all together; the largest first. Nothing is removed
/// but by Delete or the button, which move the selected recordings to the trash; Undo moves them back.
class SpaceDialog : public QDialog {
    Q_OBJECT
  public:
    enum Column { Name, State, Age, Recording, Checkpoints, Together };

    explicit SpaceDialog(QWidget* parent);

    /// `folder`: in which they are. `now` is the time that ages are counted to.
    void setRows(std::vector<SpaceRow> rows, const QString& folder, const QDateTime& now);
    /// What was moved to the trash and can be moved back, in one line; empty: nothing.
    void setUndo(const QString& line);
    /// The paths of the selected rows that can be removed.
    QStringList selected() const;

  Q_SIGNALS:
    void trashRequested(const QStringList& paths);
    void undoRequested();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void showSelection();
    void requestTrash();

    std::vector<SpaceRow> rows_;
    QTableWidget* table_;
    QLabel *total_, *undo_line_;
    QPushButton *undo_, *trash_;
};

/// "1.2 MiB".
QString sizeText(qint64 bytes);

}  // namespace normscope::widgets
