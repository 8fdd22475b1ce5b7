// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/save_names.h"

#include <QFileInfo>

namespace normscope::widgets {

QString withEnding(const QString& path, const QString& ending) {
    if (QFileInfo(path).suffix().compare(ending, Qt::CaseInsensitive) == 0) return path;
    return path + QLatin1Char('.') + ending;
}

QStringList existingUnnamed(const QString& named, const QStringList& written) {
    QStringList unasked;
    for (const QString& file : written)
        if (file != named && QFileInfo::exists(file)) unasked << file;
    return unasked;
}

}  // namespace normscope::widgets
