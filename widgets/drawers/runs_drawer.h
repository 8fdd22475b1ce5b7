// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "widgets/drawers/drawer.h"

#include <map>

class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QTimer;

namespace normscope::app {

class Lab;

/// The list of all recordings, the newest first: name, date, outcome, final loss, the curve of the loss.
/// Enter, a double click or dragging a
/// row out adds its run to the comparison.
class RunsDrawer : public Drawer {
    Q_OBJECT
  public:
    static constexpr int kWidth = 440;

    /// `parent` contains `over`, directly or not.
    RunsDrawer(Lab& lab, QWidget* over, QWidget* parent);

    /// Shows it with a new list, the search field focused.
    void open();
    /// Of the rows that the search leaves, in their order.
    QStringList paths() const;
    QListWidget* list() const { return list_; }
    const RecordingRow* row(const QString& path) const;
    /// The curve, read when a row is first drawn; null until then.
    const RecordingCurve* curve(const QString& path);
    /// The second line of a row: date, outcome, step, final loss; or what is damaged.
    QString details(const RecordingRow& row) const;
    QString nameOf(const RecordingRow& row) const;
    RunState stateOf(const RecordingRow& row) const;

  Q_SIGNALS:
    void addRequested(const QStringList& paths);
    void trashRequested(const QString& path, const QString& name);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void take(const QList<RecordingRow>& rows, bool complete);
    void filter();
    void addSelected();
    void trashSelected();
    void sayState();

    Lab& lab_;
    QLabel* title_;
    QLabel* empty_;
    QLineEdit* search_;
    QListWidget* list_;
    QTimer* list_later_;
    QList<RecordingRow> rows_;
    bool complete_ = false;
    std::map<QString, std::pair<QDateTime, RecordingCurve>> curves_;  ///< with the time of the file
    std::map<QString, QDateTime> asked_;
};

}  // namespace normscope::app
