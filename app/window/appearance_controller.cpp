// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/appearance_controller.h"

#include "app/window/studies/sweep_controller.h"
#include "widgets/common/banner.h"
#include "widgets/common/palette.h"
#include "widgets/common/settings.h"
#include "widgets/drawers/drawer.h"
#include "widgets/drawers/side_rail.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/sweep/sweep_view.h"

#include <QApplication>
#include <QMainWindow>
#include <algorithm>

namespace normscope::app {

namespace {

constexpr int kWideFrom = 1700;  // window width at which the third column and the rail fit

}  // namespace

AppearanceController::AppearanceController(SweepController& sweeps, const Views& views, QMainWindow* window)
    : QObject(window), sweeps_(sweeps), views_(views), window_(window) {
    connect(views_.strip, &widgets::RunStrip::themeToggled, this, &AppearanceController::toggleTheme);
    const auto showFull = [this] { setBasic(false); };
    connect(views_.strip, &widgets::RunStrip::fullRequested, this, showFull);
    connect(views_.knobs, &widgets::KnobPanel::fullRequested, this, showFull);
    connect(&sweeps_, &SweepController::shownChanged, this, &AppearanceController::showHint);
}

bool AppearanceController::fitsWide() const {
    return window_->width() >= kWideFrom;
}

void AppearanceController::arrange() {
    const int left = fitsWide() ? 320 : 280;
    views_.left->setFixedWidth(left);
    views_.strip->setLeftWidth(left);
    views_.transport->setLeftWidth(left);
    if (!basic_ && !wide_by_user_ && !views_.presentation->isOn() && views_.grid->isWide() != fitsWide()) {
        views_.grid->setWide(fitsWide());
        views_.rail->setVisible(fitsWide());
    }
}

void AppearanceController::setBasic(bool basic) {
    widgets::Settings().setFull(!basic);
    if (basic == basic_) return;
    basic_ = basic;
    views_.grid->setBasic(basic);
    views_.knobs->setBasic(basic);
    views_.strip->setBasic(basic);
    showHint();
    views_.rail->setVisible(!basic && views_.grid->isWide() && !views_.presentation->isOn());
    arrange();
}

void AppearanceController::showHint() {
    views_.hint->setVisible(basic_ && !views_.presentation->isOn() && !sweeps_.shown());
}

void AppearanceController::setWide(bool wide) {
    wide_by_user_ = wide != fitsWide();
    views_.grid->setWide(wide);
    views_.rail->setVisible(wide && !basic_ && !views_.presentation->isOn());
}

void AppearanceController::toggleRail() {
    if (basic_) return setBasic(false);
    setWide(!views_.grid->isWide());
}

void AppearanceController::setDark(bool dark) {
    dark_ = dark;
    QApplication::setPalette(widgets::windowPalette(dark));
    const auto theme = widgets::Theme::make(dark ? widgets::Theme::Kind::Dark : widgets::Theme::Kind::Light);
    views_.grid->setTheme(theme);
    sweeps_.map()->setTheme(theme);
    widgets::Settings().setDark(dark);
}

void AppearanceController::orderTheme(bool dark) {
    setDark(dark);
    theme_ordered_ = true;
}

void AppearanceController::restoreTheme(bool dark) {
    if (!theme_ordered_) setDark(dark);
}

void AppearanceController::toggleTheme() {
    theme_ordered_ = false;
    setDark(!dark_);
}

void AppearanceController::togglePresentation() {
    sweeps_.show(false);
    views_.presentation->setOn(!views_.presentation->isOn());
    showHint();
    arrange();
    Q_EMIT presentationChanged();
}

void AppearanceController::focusCurrent() {
    if (sweeps_.shown()) return;
    const widgets::PanelGrid* grid = views_.grid;
    const auto& cells = grid->cells();
    const int index =
        static_cast<int>(std::find(cells.begin(), cells.end(), grid->currentCell()) - cells.begin());
    views_.grid->focusCell(grid->focusedCell() == index && !views_.presentation->isOn() ? -1 : index);
}

void AppearanceController::resetFocus() {
    for (auto* drawer : window_->findChildren<widgets::Drawer*>(QString(), Qt::FindDirectChildrenOnly))
        if (drawer->isVisible()) return drawer->hide();
    if (views_.banner->isVisible())
        views_.banner->hide();
    else if (sweeps_.shown())
        sweeps_.show(false);
    else if (views_.presentation->isOn())
        togglePresentation();
    else
        views_.grid->focusCell(-1);
}

}  // namespace normscope::app
