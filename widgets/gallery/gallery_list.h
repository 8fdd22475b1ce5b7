// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListWidget>
#include <QStringList>

namespace normscope {
struct GalleryEntry;
}

namespace normscope::app {

class GalleryRuns;

/// The rows of the gallery: title, place, runs and their state, the verdicts of the measures. The first row
/// of each paper has the paper's name above it.
class GalleryList : public QListWidget {
    Q_OBJECT
  public:
    GalleryList(GalleryRuns& runs, QWidget* parent);

    /// Rows of these entries. The selected one stays so if it is among them, else the first is selected.
    void setIds(const QStringList& ids);
    QStringList ids() const;
    /// Of the selected row; empty: there is none.
    QString selected() const;
    void select(const QString& id);
    /// What a row states has changed; without an id, all.
    void refresh(const QString& id = {});

    const GalleryRuns& runs() const { return runs_; }
    /// The paper's name above this row; empty: it is not the first of its paper.
    QString heading(int row) const;
    int rowHeight(int row) const;

  Q_SIGNALS:
    void chosen(const QString& id);  ///< another row is selected

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    const GalleryEntry* entryOf(int row) const;
    void describe(int row) const;

    GalleryRuns& runs_;
};

}  // namespace normscope::app
