// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/list_drawer.h"
#include "widgets/figures/runs/recording_row.h"

#include <QList>
#include <map>

class QListWidget;

namespace normscope::widgets {

/// The list of all recordings, the newest first: name, date, outcome, final loss, the curve of the loss.
/// Enter, a double click or dragging a row out adds its run to the comparison.
class RunsDrawer : public ListDrawer {
    Q_OBJECT
  public:
    static constexpr int kWidth = 440;

    /// `parent` contains `over`, directly or not.
    RunsDrawer(QWidget* over, QWidget* parent);

    /// Shows it with the search field focused.
    void open();
    /// A list that is not complete grows; one that is read again replaces the old one when it is complete.
    void setRows(const QList<RecordingRow>& rows, bool complete);
    /// The runs of the comparison that are recorded: their names by the paths of their recordings.
    void setCompared(std::map<QString, QString> names);
    /// The answer to curveRequested().
    void setCurve(const QString& path, const RecordingCurve& curve);

    const QList<RecordingRow>& rows() const { return rows_; }
    /// Of the rows that the search leaves, in their order.
    QStringList paths() const;
    QListWidget* list() const;
    const RecordingRow* row(const QString& path) const;
    /// The curve, requested when a row is first drawn; null until it is there.
    const RecordingCurve* curve(const QString& path);
    /// The second line of a row: date, outcome, step, final loss; or what is damaged.
    QString details(const RecordingRow& row) const;
    QString nameOf(const RecordingRow& row) const;
    static RunState stateOf(const RecordingRow& row);

  Q_SIGNALS:
    void addRequested(const QStringList& paths);
    void trashRequested(const QString& path, const QString& name);
    void curveRequested(const QString& path);
    void spaceRequested();  ///< what the recordings take is to be shown

  protected:
    QStringList allIds() const override;
    QString searched(const QString& path) const override;
    QString emptyText() const override;

  private:
    void addSelected();
    void trashSelected();
    void refresh();

    QList<RecordingRow> rows_;
    bool complete_ = false;
    std::map<QString, QString> compared_;
    std::map<QString, std::pair<QDateTime, RecordingCurve>> curves_;  ///< with the time of the file
    std::map<QString, QDateTime> requested_;
};

}  // namespace normscope::widgets
