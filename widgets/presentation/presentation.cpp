// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/presentation/presentation.h"

#include "widgets/panels/panel_grid.h"
#include "widgets/runs/step_scrubber.h"
#include "widgets/story/story_strip.h"

#include <QApplication>
#include <QMainWindow>
#include <QShortcut>
#include <algorithm>

namespace normscope::widgets {

Presentation::Presentation(QMainWindow& window, PanelGrid& grid, StoryStrip& story,
                           const std::vector<QWidget*>& hidden)
    : QObject(&window),
      window_(window),
      grid_(grid),
      story_(story),
      head_(new PresentationHead(&window)),
      foot_(new PresentationFoot(&window)) {
    for (QWidget* widget : hidden) hidden_.push_back({widget, true});
    head_->hide();
    foot_->hide();
    for (const auto& [key, direction] : {std::pair{Qt::Key_Left, -1}, std::pair{Qt::Key_Right, 1}}) {
        auto* made = new QShortcut(key, &window);
        made->setEnabled(false);
        connect(made, &QShortcut::activated, this, [this, by = direction] { step(by); });
        keys_.push_back(made);
    }
}

void Presentation::step(int direction) {
    const StepScrubber* scrubber = foot_->scrubber();
    const qint64 to = scrubber->measuredNeighbour(scrubber->step(), direction);
    if (to != scrubber->step()) Q_EMIT stepRequested(to);
}

void Presentation::setOn(bool on) {
    if (on == on_) return;
    on_ = on;
    if (on) {
        focus_ = QApplication::focusWidget();
        focused_cell_ = grid_.focusedCell();
        const auto& cells = grid_.cells();
        const auto current = std::find(cells.begin(), cells.end(), grid_.currentCell());
        if (focused_cell_ < 0) grid_.focusCell(static_cast<int>(current - cells.begin()));
        showStoryPanel();
        for (Hidden& part : hidden_) {
            part.visible = !part.widget->isHidden();
            part.widget->hide();
        }
    } else {
        for (const Hidden& part : hidden_) part.widget->setVisible(part.visible);
        grid_.focusCell(focused_cell_);
    }
    head_->setVisible(on);
    foot_->setVisible(on);
    grid_.setTextSizes(on ? kPlot : 13, on ? kLine : 1.5);
    story_.setTextSize(on ? kText : 12);
    for (QShortcut* key : keys_) key->setEnabled(on);
    window_.setWindowState(on ? window_.windowState() | Qt::WindowFullScreen
                              : window_.windowState() & ~Qt::WindowFullScreen);
    if (on)
        foot_->scrubber()->setFocus();
    else if (focus_)
        focus_->setFocus();
}

void Presentation::showStoryPanel() {
    if (!on_ || !story_.story() || focused_cell_ >= 0) return;
    const auto& cells = grid_.cells();
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i]->panel() == story_.panel()) return grid_.focusCell(static_cast<int>(i));
}

void Presentation::show(const Shown& shown) {
    foot_->scrubber()->setRange(shown.recorded, shown.planned);
    foot_->scrubber()->setStep(shown.step);
    foot_->train()->setPlaying(shown.playing, shown.act);
    head_->setStep(shown.step, shown.planned);
    head_->setHeadline(shown.headline);
}

}  // namespace normscope::widgets
