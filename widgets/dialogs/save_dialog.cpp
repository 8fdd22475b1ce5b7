// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/save_dialog.h"

#include "widgets/common/settings.h"
#include "widgets/figures/save_names.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

namespace normscope::widgets {

namespace {

bool mayReplace(QWidget* parent, const QString& title, const QStringList& files) {
    QStringList names;
    for (const QString& file : files) names << QFileInfo(file).fileName();
    const QString question =
        QCoreApplication::translate("normscope::widgets::SaveDialog", "%1 exists already. Replace it?")
            .arg(names.join(QStringLiteral(", ")));
    return QMessageBox::question(parent, title, question, QMessageBox::Yes | QMessageBox::No,
                                 QMessageBox::No) == QMessageBox::Yes;
}

}  // namespace

QString chooseSavePath(QWidget* parent, const QString& title, const QString& file_name, const QString& ending,
                       const QString& filter, const std::function<QStringList(const QString&)>& further) {
    Settings settings;
    QString proposal = QDir(settings.lastFolder()).filePath(file_name);
    for (;;) {
        const QString named = QFileDialog::getSaveFileName(parent, title, proposal, filter);
        if (named.isEmpty()) return {};
        const QString path = widgets::withEnding(named, ending);
        const QStringList written = QStringList{path} + (further ? further(path) : QStringList());
        const QStringList unasked = widgets::existingUnnamed(named, written);
        if (unasked.isEmpty() || mayReplace(parent, title, unasked)) {
            settings.setLastFolder(QFileInfo(path).absolutePath());
            return path;
        }
        proposal = path;
    }
}

}  // namespace normscope::widgets
