// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/story_controller.h"

#include "app/lab/lab.h"
#include "app/window/runs/panels_controller.h"
#include "app/window/runs/story_guide.h"
#include "core/base/strict_json.h"
#include "core/recipe/presets.h"
#include "widgets/common/pulse.h"
#include "widgets/findings/findings_band.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/story/story_strip.h"

#include <set>

namespace normscope::app {

QString storyTitle(const Preset& story) {
    return QString::fromStdString(strict_json(story.json, story.name).value("title", story.name));
}

StoryController::StoryController(Lab& lab, const Views& views, QObject* parent)
    : QObject(parent), views_(views), guide_(new StoryGuide(lab, *views.strip, this)) {
    offer();
    connect(views_.runs, &widgets::RunStrip::storyChosen, this, &StoryController::tell);
    connect(views_.findings, &widgets::FindingsBand::storyChosen, this, &StoryController::tell);
    connect(guide_, &StoryGuide::actionChanged, this, &StoryController::showAction);
    const auto changed = [this] { Q_EMIT shownChanged(views_.strip->story().has_value()); };
    connect(views_.strip, &widgets::StoryStrip::stepShown, this, changed);
    connect(views_.strip, &widgets::StoryStrip::stepShown, this, &StoryController::showPanel);
    connect(views_.strip, &widgets::StoryStrip::ended, this, changed);
}

void StoryController::offer() {
    QStringList names, titles;
    std::set<std::size_t> steps;
    for (const Preset& story : stories()) {
        names << QString::fromLatin1(story.name);
        titles << storyTitle(story);
        steps.insert(strict_json(story.json, story.name).at("steps").size());
    }
    views_.runs->setStories(names, titles);
    views_.findings->setStories(
        names, titles,
        steps.size() == 1
            ? tr("Stories: %1 steps each, on real runs").arg(*steps.begin())
            : tr("Stories: %1 to %2 steps, on real runs").arg(*steps.begin()).arg(*steps.rbegin()));
}

/// The panel that the step is about, where it names one.
void StoryController::showPanel() {
    const widgets::StoryStrip& strip = *views_.strip;
    const StoryStep& step = strip.story()->steps[strip.at()];
    if (!step.panel.empty()) views_.panels->showPanel(step.panel, step.options);
}

void StoryController::showAction() {
    widgets::PresentationFoot* foot = views_.presentation->foot();
    const std::optional<StoryAction> action = guide_->action();
    const bool presenting = views_.presentation->isOn(),
               knob = action && action->kind == StoryAction::Kind::Knob;
    const QString key = knob ? QString::fromStdString(action->key) : QString();
    foot->setTarget(key, knob ? std::optional(action->to) : std::nullopt);
    if (!action) return views_.pulse->show(nullptr, {});
    if (!knob) {
        QWidget* train = presenting ? static_cast<QWidget*>(foot->train()) : views_.transport->mainButton();
        return views_.pulse->show(train, [train] { return QRectF(train->rect()).center(); });
    }
    widgets::KnobSlider* slider = foot->slider(key);
    if (!presenting) {
        views_.knobs->reveal(key);
        const auto* row = qobject_cast<widgets::Knob*>(views_.knobs->row(key));
        slider = row ? row->slider() : nullptr;
    }
    views_.pulse->show(slider, [slider] { return slider->thumb(); });
}

bool StoryController::tell(const QString& name) {
    for (const Preset& file : stories())
        if (name == QLatin1String(file.name)) {
            guide_->start(read_story(file.name, file.json));
            views_.presentation->showStoryPanel();
            return true;
        }
    return false;
}

}  // namespace normscope::app
