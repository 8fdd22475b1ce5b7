// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <functional>

class QWidget;

namespace normscope::widgets {

/// Asks where to save a file. The name gets the ending where it has none of its own; what exists under the
/// names that the file dialog has not shown (that one, and those of `further`) is replaced only after a
/// question. Empty if cancelled. The folder is remembered for the next time.
QString chooseSavePath(QWidget* parent, const QString& title, const QString& file_name, const QString& ending,
                       const QString& filter,
                       const std::function<QStringList(const QString& path)>& further = {});

}  // namespace normscope::widgets
