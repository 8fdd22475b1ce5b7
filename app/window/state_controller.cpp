// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/state_controller.h"

#include "app/lab/files/window_text.h"
#include "app/lab/lab.h"
#include "app/window/runs/story_controller.h"
#include "core/base/strict_json.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/story/story_strip.h"

#include <QDateTime>
#include <QFileInfo>

namespace normscope::app {

using nlohmann::json;

namespace {

constexpr int kStateVersion = 1;
constexpr int kSaveInterval = 2000;  // ms; the rows of a training are in its recording anyway

json runJson(const SavedRun& run) {
    json out = {{"id", run.id}, {"name", run.name}};
    const auto set = [&](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = text;
    };
    set("drawn_name", run.drawn_name);
    set("not_recorded", run.not_recorded);
    set("recording", run.recording);
    set("session", run.session);
    if (run.companion) out["companion"] = true;
    return out;
}

}  // namespace

StateController::StateController(Lab& lab, StoryController& stories, const Views& views, ViewText view,
                                 const QString& recordings_folder, QObject* parent)
    : QObject(parent),
      lab_(lab),
      stories_(stories),
      views_(views),
      view_(std::move(view)),
      recordings_folder_(recordings_folder) {}

void StateController::start(bool from_start) {
    later_.setInterval(kSaveInterval);
    connect(&later_, &QTimer::timeout, this, [this] { keep(false); });
    connect(&lab_.session(), &LabSession::restored, this, &StateController::applyRestored);
    connect(&lab_.session(), &LabSession::windowSaved, this, [this](bool kept) {
        if (!kept) cached_text_.clear();
    });
    if (!widgets::Settings().restores()) return lab_.recordings().findInterrupted();
    stored_ = std::make_unique<WindowStateFile>(recordings_folder_, from_start);
    if (!stored_->locked()) {
        stored_.reset();
        views_.banner->showMessage(
            tr("The next start cannot restore this window: no file can be written next to %1")
                .arg(recordings_folder_));
        return lab_.recordings().findInterrupted();
    }
    if (stored_->text().empty()) {
        later_.start();
        return from_start ? void() : lab_.recordings().findInterrupted();
    }
    try {
        const StoredWindow stored = readWindow(stored_->text(), "window");
        restoring_view_ = stored.view;
        lab_.session().restore(stored.runs, stored_->companion());
        connect(&lab_.session(), &LabSession::opened, this, [this] {  // instead of it
            restoring_view_.clear();
            later_.start();
        });
    } catch (const std::exception& error) {
        restoring_view_.clear();
        later_.start();
        views_.banner->showMessage(
            tr("%1 is damaged, the last window is not restored: %2")
                .arg(stored_->path(), QString::fromUtf8(error.what()).section(u'\n', 0, 0)));
    }
}

void StateController::applyRestored() {
    try {
        const StoredWindow stored = readWindow(stored_->text(), "window");
        // The state is stored after every save of this window: a newer session is another program's.
        const QString session = QString::fromStdString(stored.session_path);
        lab_.session().setPath(session, !session.isEmpty() && QFileInfo(session).lastModified() >
                                                                  QFileInfo(stored_->path()).lastModified());
        if (stored.story && stories_.tell(QString::fromStdString(stored.story->name))) {
            views_.story->moveTo(stored.story->at);
            views_.story->setHeld(stored.story->held);
        }
        view_.restore(std::exchange(restoring_view_, {}));
        lab_.remedies().restoreTried(stored.tried);
        if (stored.unsaved) lab_.runs().undoStack()->resetClean();
    } catch (const std::exception& error) {
        views_.banner->showMessage(
            tr("%1: not all is restored: %2").arg(stored_->path(), QString::fromUtf8(error.what())));
    }
    Q_EMIT restored();
    later_.start();
    lab_.recordings().findInterrupted();
}

bool StateController::keep(bool closing) {
    // Before the last window is restored there is nothing to keep; a drag needs every millisecond.
    if (!stored_ || (!later_.isActive() && !closing) || !restoring_view_.empty()) return false;
    if (lab_.knobs().dragging() && !closing) return false;
    SavedComparison comparison = lab_.session().savedComparison(stored_->companion(), closing);
    json state = {{"version", kStateVersion},
                  {"view", view_.keep()},
                  {"session_path", lab_.session().path().toStdString()},
                  {"unsaved", lab_.session().unsaved()},
                  {"tried", lab_.remedies().tried()}};
    for (const SavedRun& run : comparison.runs) state["runs"].push_back(runJson(run));
    if (views_.story->story())
        state["story"] = {{"name", views_.story->story()->name},
                          {"at", views_.story->at()},
                          {"held", views_.story->held()}};
    SaveWindowRequest request{stored_->path(), json_text(state), std::move(comparison.companion)};
    if (!closing && !request.companion && request.text == cached_text_) return true;
    cached_text_ = request.text;
    if (closing) return lab_.session().saveWindowNow(request);
    lab_.session().saveWindow(request);
    return true;
}

void StateController::toggleRestoring() {
    const bool restores = !widgets::Settings().restores();
    widgets::Settings().setRestores(restores);
    if (restores && !stored_) {
        stored_ = std::make_unique<WindowStateFile>(recordings_folder_, true);
        if (!stored_->locked()) stored_.reset();
        later_.start();
    } else if (!restores && stored_) {
        later_.stop();
        stored_->remove();
        stored_.reset();
    }
    views_.banner->showMessage(restores ? tr("The next start restores this window")
                                        : tr("The next start begins with a new comparison"));
}

}  // namespace normscope::app
