// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace normscope::widgets {

/// A name with the ending of its format ("svg"): "fig" and "fig.v2" become "fig.svg" and "fig.v2.svg";
/// "fig.svg" and "fig.SVG" stay.
QString withEnding(const QString& path, const QString& ending);

/// Of the files that a save will write those that exist and were not named in the dialog, which has not asked
/// about them.
QStringList existingUnnamed(const QString& named, const QStringList& written);

}  // namespace normscope::widgets
