// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/files/drop_controller.h"

#include "app/lab/lab.h"
#include "app/window/files/files_controller.h"
#include "core/interchange/model_folder.h"
#include "core/run/complete.h"
#include "widgets/common/drop_target.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <algorithm>

namespace normscope::app {

namespace {

enum class Kind { Sweep, Session, Recipe, Model, Text, Unknown };

Kind kindOf(const QString& path) {
    const QFileInfo file(path);
    if (is_model_folder(path.toStdString()) ||
        path.endsWith(QStringLiteral(".index.json"), Qt::CaseInsensitive))
        return Kind::Model;
    if (file.isDir()) return Kind::Sweep;
    const QString ending = file.suffix().toLower();
    const auto one_of = [&](std::initializer_list<const char*> endings) {
        return std::any_of(endings.begin(), endings.end(),
                           [&](const char* known) { return ending == QLatin1String(known); });
    };
    if (one_of({"h5", "hdf5"})) return Kind::Session;
    if (one_of({"json"})) return Kind::Recipe;
    if (one_of({"safetensors", "gguf", "bin"})) return Kind::Model;
    if (one_of({"txt", "md", "rst", "tex", "csv", "py", "cpp", "c", "h"})) return Kind::Text;
    return Kind::Unknown;
}

/// The files of a drag from another program; empty: none on this machine.
QStringList filesOf(const QMimeData& content) {
    QStringList paths;
    for (const QUrl& url : content.urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    return paths;
}

QString promise(const QStringList& paths, bool add) {
    if (paths.size() > 1) return DropController::tr("Drop to add %1 files").arg(paths.size());
    switch (kindOf(paths.front())) {
        case Kind::Sweep:
            return DropController::tr("Drop to open the sweep of this folder");
        case Kind::Session:
            return add ? DropController::tr("Drop to add the run to the comparison")
                       : DropController::tr("Drop to open the session; on the chips, to add its run");
        case Kind::Recipe:
            return DropController::tr("Drop to add a run of this recipe");
        case Kind::Model:
            return DropController::tr("Drop to import the model as a run");
        case Kind::Text:
            return DropController::tr("Drop to train the selected run on this text");
        case Kind::Unknown:
            break;
    }
    return DropController::tr("Not a session, recipe, model, text or folder of a sweep");
}

}  // namespace

DropController::DropController(Lab& lab, FilesController& files, const Places& places)
    : QObject(places.window), lab_(lab), files_(files), places_(places) {
    places_.window->setAcceptDrops(true);
    places_.window->installEventFilter(this);
}

bool DropController::eventFilter(QObject* watched, QEvent* event) {
    const auto in = [&](const QWidget* widget) {
        return QRect(widget->mapTo(places_.window, QPoint()), widget->size());
    };
    switch (event->type()) {
        case QEvent::DragEnter: {
            auto* enter = static_cast<QDragEnterEvent*>(event);
            // What is dragged inside the program has a meaning of its own.
            dragged_ = enter->source() ? QStringList() : filesOf(*enter->mimeData());
            if (dragged_.isEmpty()) break;
            enter->setDropAction(Qt::CopyAction);
            enter->accept();
            return true;
        }
        case QEvent::DragMove: {
            if (dragged_.isEmpty()) break;
            auto* move = static_cast<QDragMoveEvent*>(event);
            const bool add = in(places_.strip).contains(move->position().toPoint());
            places_.target->showIn(in(places_.area), promise(dragged_, add));
            move->setDropAction(Qt::CopyAction);
            move->accept();
            return true;
        }
        case QEvent::DragLeave:
            if (dragged_.isEmpty()) break;
            dragged_.clear();
            places_.target->hide();
            return true;
        case QEvent::Drop: {
            if (dragged_.isEmpty()) break;
            auto* dropped = static_cast<QDropEvent*>(event);
            places_.target->hide();
            dragged_.clear();
            dropped->setDropAction(Qt::CopyAction);
            dropped->accept();
            take(filesOf(*dropped->mimeData()), in(places_.strip).contains(dropped->position().toPoint()));
            return true;
        }
        default:
            break;
    }
    return QObject::eventFilter(watched, event);
}

/// Of several files none replaces what is compared: recordings are added.
void DropController::take(const QStringList& paths, bool add) {
    QStringList recordings;
    for (const QString& path : paths) {
        switch (kindOf(path)) {
            case Kind::Sweep:
                files_.confirmAndOpen(path);
                break;
            case Kind::Session:
                if (add || paths.size() > 1)
                    recordings << path;
                else
                    files_.confirmAndOpen(path);
                break;
            case Kind::Recipe:
                addRecipe(path);
                break;
            case Kind::Model:
                lab_.runs().importModel(path);
                break;
            case Kind::Text:
                trainOn(path);
                break;
            case Kind::Unknown:
                Q_EMIT lab_.problem(
                    tr("%1: is not known. Files: sessions (.h5), recipes (.json), models (.safetensors, "
                       ".gguf, .bin), texts (.txt). Folders: of a sweep, of a model")
                        .arg(QFileInfo(path).fileName()));
        }
    }
    if (!recordings.isEmpty()) lab_.recordings().add(recordings);
}

void DropController::addRecipe(const QString& path) {
    try {
        Recipe recipe = load_recipe(path.toStdString());
        complete_without_data(recipe);  // what only the data can tell, the engine fills in
        lab_.runs().add(recipe);
    } catch (const std::exception& error) {
        Q_EMIT lab_.problem(QString::fromUtf8(error.what()));
    }
}

void DropController::trainOn(const QString& text_file) {
    Recipe recipe = lab_.comparison().selectedRun().recipe;
    if (recipe.stack.of_images()) {
        Q_EMIT lab_.problem(tr("%1 is trained on images: a text needs a run of tokens")
                                .arg(QString::fromStdString(lab_.comparison().selectedRun().data->name)));
        return;
    }
    recipe.train.data.source = DataSource::Text;
    recipe.train.data.path = text_file.toStdString();
    recipe.stack.vocab = 0;
    lab_.runs().useRecipe(recipe, tr("train on %1").arg(QFileInfo(text_file).fileName()));
}

}  // namespace normscope::app
