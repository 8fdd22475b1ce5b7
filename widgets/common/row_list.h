// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListWidget>
#include <QStringList>

class QPainter;

namespace normscope::widgets {

/// What paints one row of a RowList: the area of the row, its fonts and colours.
struct RowPaint {
    QPainter& painter;
    QRect row;
    QFont font;     ///< of the list
    QColor ink;     ///< of texts
    QColor muted;   ///< of texts of less weight
    QColor line;    ///< under a row
    QColor chosen;  ///< the background of the selected row
    bool selected = false, focused = false;

    /// Text wrapped at words, from the top of `at`.
    void text(const QFont& of, const QColor& colour, const QRect& at, const QString& what,
              Qt::Alignment side = Qt::AlignLeft) const;
    /// The background of a selected row, the frame of the focus and, if `ruled`, a line under the row.
    void ground(const QRect& at, bool ruled) const;
};

/// A list of painted rows, each with an id and a text for screen readers. At most one row is current.
/// Interface thread.
class RowList : public QListWidget {
    Q_OBJECT
  public:
    RowList(const QString& name, const QString& accessible, QWidget* parent = nullptr);

    /// Rows with these ids. The current row stays so if it is among them, else the first one is.
    virtual void setIds(const QStringList& ids);
    QStringList ids() const;
    QString id(int row) const;
    /// Of the current row; empty: there is none.
    QString selected() const;
    /// Of all selected rows, in their order; without a selection none.
    QStringList allSelected() const;
    void select(const QString& id);
    /// What a row states has changed; without an id, all.
    virtual void refresh(const QString& id = {});

  Q_SIGNALS:
    void chosen(const QString& id);  ///< another row is current

  protected:
    /// In px.
    virtual int rowHeight(int row) const = 0;
    virtual void paintRow(const RowPaint& paint, int row) = 0;
    /// What a row states, for screen readers.
    virtual QString describe(const QString& id) const = 0;
    virtual QString toolTipOf(const QString& id) const;
    /// The place of a row's widget, if it has one, under this height of the row, in px.
    virtual int headHeight(int row) const { return rowHeight(row); }

    QListWidgetItem* rowOf(const QString& id) const;
    /// The heights of rows have changed.
    void updateLayout();
    void resizeEvent(QResizeEvent* event) override;

  private:
    class Painter;
};

}  // namespace normscope::widgets
