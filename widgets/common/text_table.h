// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

class QLabel;
class QTableWidget;
class QWidget;

namespace normscope::widgets {

/// A table of texts to read: a row is selected as a whole, Tab leaves it. `title` is spoken.
QTableWidget* textTable(const char* name, const QString& title, const QStringList& columns, QWidget* parent);

/// A text, also as tooltip, where a column is too narrow.
void setCell(QTableWidget* table, int row, int column, const QString& text);

/// A plain text of several lines, which can be selected.
QLabel* paragraph(const char* name, QWidget* parent);

}  // namespace normscope::widgets
