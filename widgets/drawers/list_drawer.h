// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/drawers/drawer.h"

#include <QStringList>

class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;

namespace normscope::widgets {

class RowList;

/// A drawer with a list: a title, filters with a search field, the rows that they leave, or a sentence where
/// there are none. Up and Down in the search field move in the list. What is below the rows or in a row is
/// added by the classes that derive from it.
class ListDrawer : public Drawer {
    Q_OBJECT
  protected:
    struct Names {
        const char *drawer, *title, *search, *empty;  ///< of the objects
    };
    /// `list` is shown by this drawer and becomes its child; `parent` contains `over`, directly or not.
    ListDrawer(const Names& names, RowList* list, int width, QWidget* over, QWidget* parent);

    /// All ids, in their order.
    virtual QStringList allIds() const = 0;
    /// In which the words of the search are found.
    virtual QString searched(const QString& id) const = 0;
    /// Whether the other filters leave it.
    virtual bool passes(const QString& id) const;
    /// The sentence where no row is left.
    virtual QString emptyText() const = 0;
    /// Whether this key, pressed in the search field, is the list's.
    virtual bool isOfList(int key) const;

    /// A choice before the search field; filter() follows its changes.
    QComboBox* addChoice(const char* name, const QString& accessible);
    /// A line of small text under the rows.
    void addHint(const QString& text);
    /// Shows the rows that are left.
    void filter();
    bool eventFilter(QObject* watched, QEvent* event) override;

    QLabel* const title_;
    QLabel* const empty_;
    QLineEdit* const search_;
    RowList* const list_;
    QBoxLayout *heading_, *filters_, *column_;  ///< the first two are rows of the last
};

/// A font of 11 px.
QFont smallFont(QFont font);

}  // namespace normscope::widgets
