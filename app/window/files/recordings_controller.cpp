// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/files/recordings_controller.h"

#include "app/lab/lab.h"
#include "app/lab/remote/place.h"
#include "widgets/common/banner.h"
#include "widgets/common/drop_target.h"
#include "widgets/dialogs/space_dialog.h"
#include "widgets/drawers/recording_list.h"
#include "widgets/drawers/runs_drawer.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMimeData>

namespace normscope::app {

using widgets::RecordingCurve;
using widgets::RecordingRow;
using widgets::RunsDrawer;
using widgets::SpaceDialog;

namespace {
constexpr int kListAgain = 1000;  // ms, while a run trains
}

RecordingsController::RecordingsController(Lab& lab, const Places& places, const QString& folder,
                                           widgets::Banner& banner)
    : QObject(places.window),
      lab_(lab),
      places_(places),
      folder_(folder),
      banner_(banner),
      drawer_(new RunsDrawer(places.panels, places.window)),
      list_later_(this, kListAgain, [this] {
          if (isShown()) lab_.recordings().list();
      }) {
    places_.window->setAcceptDrops(true);
    places_.window->installEventFilter(this);
    connect(&lab_, &Lab::runsChanged, this, [this] {
        if (drawer_->isVisible()) showCompared();
        listLater();
    });
    connect(&lab_, &Lab::dataChanged, this, &RecordingsController::listLater);
    connect(&lab_.recordings(), &Recordings::listed, this,
            [this](const QList<RecordingRow>& rows, bool complete) {
                drawer_->setRows(rows, complete);
                fillSpace();
            });
    connect(&lab_.recordings(), &Recordings::curveRead, drawer_, &RunsDrawer::setCurve);
    connect(&lab_.recordings(), &Recordings::trashed, this, &RecordingsController::takeTrashed);
    connectDrawer();
}

void RecordingsController::connectDrawer() {
    connect(drawer_, &RunsDrawer::shown, this, [this] {
        showCompared();
        lab_.recordings().list();
    });
    connect(drawer_, &RunsDrawer::addRequested, &lab_.recordings(), &Recordings::add);
    connect(drawer_, &RunsDrawer::trashRequested, this, &RecordingsController::confirmTrash);
    connect(drawer_, &RunsDrawer::curveRequested, this, &RecordingsController::giveCurve);
    connect(drawer_, &RunsDrawer::spaceRequested, this, &RecordingsController::showSpace);
}

void RecordingsController::toggle() {
    if (drawer_->isVisible())
        drawer_->hide();
    else
        drawer_->open();
}

bool RecordingsController::isShown() const {
    return drawer_->isVisible() || space_;
}

void RecordingsController::listLater() {
    if (isShown()) list_later_.request();
}

void RecordingsController::showCompared() {
    std::map<QString, QString> names;
    for (const LabRun& run : lab_.comparison().runs)
        if (!run.recording.empty())
            names[QString::fromStdString(run.recording)] = QString::fromStdString(run.data->name);
    drawer_->setCompared(std::move(names));
}

/// That of a run in training is here; a file that is being written is not read.
void RecordingsController::giveCurve(const QString& path) {
    const RecordingRow* row = drawer_->row(path);
    if (!row || !row->live) return lab_.recordings().readCurve(path);
    const LabRun* run = recordedIn(lab_.comparison(), path);
    const auto* losses = run ? run->data->steps.find("loss") : nullptr;
    drawer_->setCurve(path, losses ? widgets::curveOf(*losses) : RecordingCurve{});
}

// --- space and trash

void RecordingsController::openElsewhere() {
    const std::string chosen = lab_.devices().chosen();
    const QString place = is_remote(chosen) ? QString::fromStdString(parse_remote(chosen).first.text())
                                            : QStringLiteral("ssh://host");
    auto* dialog = new QInputDialog(places_.window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Recording of another machine"));
    dialog->setLabelText(
        tr("The machine, as your ssh calls it, and the path of the file there.\n"
           "A run that is being written is shown live."));
    dialog->setInputMode(QInputDialog::TextInput);
    dialog->setTextValue(place + QStringLiteral(" /path/to/run.h5"));
    dialog->setOkButtonText(tr("Open"));
    connect(dialog, &QInputDialog::textValueSelected, &lab_.recordings(), &Recordings::addFrom);
    dialog->open();
}

void RecordingsController::showSpace() {
    if (space_) return space_->activateWindow();
    space_ = new SpaceDialog(places_.window);
    space_->setAttribute(Qt::WA_DeleteOnClose);
    connect(space_, &SpaceDialog::trashRequested, this, &RecordingsController::trashAll);
    connect(space_, &SpaceDialog::undoRequested, this, &RecordingsController::undoTrash);
    fillSpace();
    lab_.recordings().list();
    space_->show();
}

void RecordingsController::fillSpace() {
    if (!space_) return;
    std::vector<widgets::SpaceRow> rows;
    for (const RecordingRow& row : drawer_->rows()) {
        widgets::SpaceRow shown{row.path,  drawer_->nameOf(row), RunsDrawer::stateOf(row), row.written,
                                row.bytes, row.checkpoint_bytes};
        if (row.live)
            shown.kept = tr("in training");
        else if (recordedIn(lab_.comparison(), row.path))
            shown.kept = tr("in the comparison");
        rows.push_back(std::move(shown));
    }
    space_->setRows(std::move(rows), folder_, QDateTime::currentDateTime());
}

void RecordingsController::confirmTrash(const QString& path, const QString& name) {
    banner_.showMessage(
        tr("Move the recording of %1 to the trash?").arg(name),
        {{tr("Move to trash"), [this, path] { lab_.recordings().trash(path); }}, {tr("Keep"), [] {}}});
    banner_.raise();
}

void RecordingsController::trashAll(const QStringList& paths) {
    trashing_ = paths;
    trashed_.clear();
    moved_ = 0;
    if (space_) space_->setUndo({});
    for (const QString& path : paths) lab_.recordings().trash(path);
}

void RecordingsController::takeTrashed(const QString& path, const Moved& files) {
    lab_.recordings().list();
    const QString name = QFileInfo(path).fileName();
    if (!trashing_.removeOne(path) || !space_) {
        banner_.showMessage(tr("Moved %1 to the trash").arg(name),
                            {{tr("Undo"), [this, files] { lab_.recordings().untrash(files); }}});
        return;
    }
    trashed_ += files;
    ++moved_;
    space_->setUndo(moved_ == 1 ? tr("Moved %1 to the trash").arg(name)
                                : tr("Moved %1 recordings to the trash").arg(moved_));
}

void RecordingsController::undoTrash() {
    lab_.recordings().untrash(std::exchange(trashed_, {}));
    moved_ = 0;
    if (space_) space_->setUndo({});
}

// --- drag and drop

/// Over the panels (or the map of a sweep) and the strip of chips, and not on the list that they come from.
bool RecordingsController::takesAt(const QPoint& position) const {
    const auto inside = [&](const QWidget* widget) {
        return widget->isVisible() &&
               QRect(widget->mapTo(places_.window, QPoint()), widget->size()).contains(position);
    };
    return (inside(places_.area) || inside(places_.strip)) && !inside(drawer_);
}

void RecordingsController::showDropTarget(bool shown) {
    if (!shown) return places_.target->hide();
    QRect free(places_.area->mapTo(places_.window, QPoint()), places_.area->size());
    if (drawer_->isVisible()) free.setRight(drawer_->x());  // what the list leaves free
    places_.target->showIn(free, tr("Drop to add to the comparison"));
}

bool RecordingsController::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
        case QEvent::DragEnter: {
            // From the list of this window: another one's recordings are not in it.
            auto* enter = static_cast<QDragEnterEvent*>(event);
            if (enter->source() != drawer_->list() ||
                !enter->mimeData()->hasFormat(QLatin1String(widgets::kRecordingsMime)))
                return false;
            enter->acceptProposedAction();
            return true;
        }
        case QEvent::DragMove: {
            auto* move = static_cast<QDragMoveEvent*>(event);
            const bool taken = takesAt(move->position().toPoint());
            showDropTarget(taken);
            move->setAccepted(taken);
            return true;
        }
        case QEvent::DragLeave:
            showDropTarget(false);
            return true;
        case QEvent::Drop: {
            auto* dropped = static_cast<QDropEvent*>(event);
            showDropTarget(false);
            if (!takesAt(dropped->position().toPoint())) return true;  // back where it was
            dropped->acceptProposedAction();
            drop(*dropped);
            return true;
        }
        default:
            return QObject::eventFilter(watched, event);
    }
}

void RecordingsController::drop(const QDropEvent& event) {
    QStringList paths;
    const QByteArray dragged = event.mimeData()->data(QLatin1String(widgets::kRecordingsMime));
    for (const QString& path : QString::fromUtf8(dragged).split(u'\n')) {
        const RecordingRow* row = drawer_->row(path);
        if (row && row->damage.isEmpty()) paths << row->path;
    }
    lab_.recordings().add(paths);
}

}  // namespace normscope::app
