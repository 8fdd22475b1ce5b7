// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/files/files_controller.h"

#include "app/lab/healthy_reference.h"
#include "app/lab/lab.h"
#include "core/interchange/model_folder.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/dialogs/save_dialog.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>

namespace normscope::app {

namespace {

const QString kSessionFilter = QStringLiteral("Normscope sessions (*.h5)");

QString askWhereToSaveSession(QWidget* parent, const Lab& lab) {
    return widgets::chooseSavePath(parent, FilesController::tr("Save the session"), sessionFileName(lab),
                                   QStringLiteral("h5"), kSessionFilter);
}

}  // namespace

QString sessionFileName(const Lab& lab) {
    QStringList names;
    for (const LabRun& run : lab.comparison().runs) names << QString::fromStdString(run.data->name);
    constexpr qsizetype kMax = 3;
    const qsizetype left = names.size() - kMax;
    if (left > 0) names = names.mid(0, kMax) << FilesController::tr("%1 more").arg(left);
    QString name = names.join(QStringLiteral(" - "));
    static const QRegularExpression forbidden(QStringLiteral("[/\\\\:*?\"<>|\\x00-\\x1f]+"));
    name.replace(forbidden, QStringLiteral("-"));
    return name.left(120).trimmed() + QStringLiteral(".h5");
}

FilesController::FilesController(Lab& lab, widgets::Banner& banner, ViewText view, QWidget* window)
    : QObject(window), lab_(lab), banner_(banner), view_(std::move(view)), window_(window) {
    connect(&lab_.session(), &LabSession::opened, this, &FilesController::applyOpened);
    connect(&lab_.session(), &LabSession::saved, this, &FilesController::applySaved);
    connect(&lab_.healthy(), &HealthyReference::changed, this, [this] {
        if (lab_.healthy().band()) banner_.showMessage(tr("Band of %1").arg(lab_.healthy().description()));
    });
    connect(&lab_.session(), &LabSession::savingFailed, this,
            [this](quint64 token) { after_saving_.erase(token); });
}

void FilesController::applyOpened(const OpenedSessionPtr& session) {
    widgets::Settings().addRecentFile(session->path);
    Q_EMIT recentFilesChanged();
    if (!session->session.view_json.empty()) {
        try {
            view_.open(session->session.view_json);
        } catch (const std::exception& error) {
            banner_.showMessage(tr("%1: %2").arg(session->path, QString::fromUtf8(error.what())));
        }
    }
    Q_EMIT opened();
}

void FilesController::applySaved(const QString& path, quint64 token, bool present) {
    widgets::Settings().addRecentFile(path);
    Q_EMIT recentFilesChanged();
    banner_.showMessage(tr("Saved %1").arg(path));
    // What was to follow is not done to a session that was begun since.
    if (auto waiting = after_saving_.extract(token); waiting && present) waiting.mapped()();
}

void FilesController::openSession(const QString& path) {
    lab_.session().open(path);
}

quint64 FilesController::saveSession(const QString& path, bool on_purpose) {
    return lab_.session().save(path, view_.keep(), on_purpose);
}

void FilesController::save() {
    if (asksWhereToSave())
        saveAs();
    else
        saveSession(lab_.session().path());
}

/// Also where another process writes the session's file: a copy is saved elsewhere.
bool FilesController::asksWhereToSave() const {
    const QString path = lab_.session().path();
    const LabRun* run = recordedIn(lab_.comparison(), path);
    return path.isEmpty() || (run && run->followed);
}

void FilesController::saveAs() {
    const QString path = askWhereToSaveSession(window_, lab_);
    if (!path.isEmpty()) saveSession(path, true);  // the dialog has asked
}

void FilesController::open() {
    widgets::Settings settings;
    const QString path =
        QFileDialog::getOpenFileName(window_, tr("Open a session"), settings.lastFolder(), kSessionFilter);
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    confirmAndOpen(path);
}

void FilesController::confirmAndOpen(const QString& path) {
    if (is_model_folder(path.toStdString())) return lab_.runs().importModel(path);
    if (QFileInfo(path).isDir()) {  // next to the comparison
        Q_EMIT sweepRequested(path);
        return;
    }
    leaving(tr("Open a session"), [this, path] { openSession(path); });
}

void FilesController::importModel() {
    widgets::Settings settings;
    const QString path = QFileDialog::getOpenFileName(window_, tr("Import a model"), settings.lastFolder(),
                                                      tr("Models (*.safetensors *.index.json *.gguf *.bin)"));
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    lab_.runs().importModel(path);
}

void FilesController::chooseHealthyRuns() {
    widgets::Settings settings;
    const QString folder = QFileDialog::getExistingDirectory(
        window_, tr("Healthy runs: the folder of their recordings"), settings.lastFolder());
    if (folder.isEmpty()) return;
    settings.setLastFolder(folder);
    lab_.healthy().read(folder);
    banner_.showMessage(tr("Reading the runs of %1").arg(folder));
}

void FilesController::removeHealthyRuns() {
    const bool any = lab_.healthy().band() || lab_.healthy().reading();
    lab_.healthy().remove();
    banner_.showMessage(any ? tr("The band of healthy runs was removed")
                            : tr("There is no band of healthy runs"));
}

void FilesController::newComparison() {
    leaving(tr("New comparison"), [this] { lab_.session().startOver(); });
}

void FilesController::leaving(const QString& title, std::function<void()> then) {
    if (!lab_.session().unsaved() && !lab_.comparison().anyTraining()) return then();
    if (requested_) return requested_->activateWindow();
    QStringList lines;
    if (lab_.session().unsaved()) lines << tr("The session has changes that are not saved.");
    if (lab_.comparison().anyTraining())
        lines << tr("A training is running and will stop; its recording is kept.");
    auto* box = new QMessageBox(QMessageBox::Question, title, lines.join(QLatin1Char('\n')),
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, window_);
    requested_ = box;
    box->setObjectName(QStringLiteral("leaving"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setDefaultButton(QMessageBox::Save);
    box->setEscapeButton(QMessageBox::Cancel);
    box->button(QMessageBox::Save)->setText(tr("&Save"));
    box->button(QMessageBox::Discard)->setText(tr("&Discard"));
    connect(box, &QMessageBox::finished, this, [this, then = std::move(then)](int answer) {
        if (answer == QMessageBox::Discard) then();
        if (answer == QMessageBox::Save) saveAndThen(then);
    });
    box->open();
}

void FilesController::saveAndThen(std::function<void()> then) {
    const bool asks = asksWhereToSave();
    const QString path = asks ? askWhereToSaveSession(window_, lab_) : lab_.session().path();
    if (!path.isEmpty()) after_saving_[saveSession(path, asks)] = std::move(then);
}

}  // namespace normscope::app
