// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the window: files, export, clipboard, search, focus and presentation.
#include "app/lab/lab.h"
#include "app/window/gallery_controller.h"
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "app/window/window_actions.h"
#include "app/window/window_view.h"
#include "core/recipe/presets.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/dialogs/command_search.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/drawers/drawer.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/drawers/side_rail.h"
#include "widgets/figures/csv.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/findings/findings_band.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_row.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/stack/stack_view.h"
#include "widgets/sweep/sweep_view.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedWidget>

namespace normscope::app {

namespace {

const QString kSessionFilter = QStringLiteral("Normscope sessions (*.h5)");

/// Empty if cancelled.
QString askWhereToSave(QWidget* parent, const QString& name) {
    Settings settings;
    const QString proposal = QDir(settings.lastFolder()).filePath(name);
    QString path =
        QFileDialog::getSaveFileName(parent, MainWindow::tr("Save the session"), proposal, kSessionFilter);
    if (path.isEmpty()) return {};
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".h5");
    settings.setLastFolder(QFileInfo(path).absolutePath());
    return path;
}

}  // namespace

QString sessionFileName(const Lab& lab) {
    QStringList names;
    for (const LabRun& run : lab.runs()) names << QString::fromStdString(run.data->name);
    constexpr qsizetype kMost = 3;
    const qsizetype left = names.size() - kMost;
    if (left > 0) names = names.mid(0, kMost) << MainWindow::tr("%1 more").arg(left);
    QString name = names.join(QStringLiteral(" - "));
    static const QRegularExpression unfit(QStringLiteral("[/\\\\:*?\"<>|\\x00-\\x1f]+"));
    name.replace(unfit, QStringLiteral("-"));
    return name.left(120).trimmed() + QStringLiteral(".h5");
}

// --- files

void MainWindow::openSession(const QString& path) {
    lab_->openSession(path);
}

void MainWindow::afterOpening(const OpenedSessionPtr& opened) {
    lab_->setSessionPath(opened->path);
    Settings().addRecentFile(opened->path);
    updateRecentFiles(*this);
    if (!opened->session.view_json.empty()) {
        try {
            applyViewJson(*this, opened->session.view_json);
        } catch (const std::exception& error) {
            banner_->tell(tr("%1: %2").arg(opened->path, QString::fromUtf8(error.what())));
        }
    }
    showTitle();
}

quint64 MainWindow::saveSession(const QString& path) {
    return lab_->saveSession(path, viewJson(*this));
}

void MainWindow::save() {
    if (lab_->sessionPath().isEmpty())
        saveAs();
    else
        saveSession(lab_->sessionPath());
}

void MainWindow::saveAs() {
    const QString path = askWhereToSave(this, sessionFileName(*lab_));
    if (!path.isEmpty()) saveSession(path);
}

void MainWindow::open() {
    Settings settings;
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open a session"), settings.lastFolder(), kSessionFilter);
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    askAndOpen(path);
}

void MainWindow::askAndOpen(const QString& path) {
    if (QFileInfo(path).isDir()) return sweeps_->open(path);  // next to the comparison
    leaving(tr("Open a session"), [this, path] { openSession(path); });
}

void MainWindow::importModel() {
    Settings settings;
    const QString path = QFileDialog::getOpenFileName(this, tr("Import a model"), settings.lastFolder(),
                                                      tr("Models (*.safetensors *.bin)"));
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    lab_->importModel(path);
}

void MainWindow::newComparison() {
    leaving(tr("New comparison"), [this] { lab_->startOver(); });
}

void MainWindow::leaving(const QString& title, std::function<void()> then) {
    if (!lab_->unsaved() && !lab_->anyUnderWay()) return then();
    if (auto* asked = findChild<QMessageBox*>(QStringLiteral("leaving"))) return asked->activateWindow();
    QStringList lines;
    if (lab_->unsaved()) lines << tr("The session has changes that are not saved.");
    if (lab_->anyUnderWay()) lines << tr("A training is running and will stop; its recording is kept.");
    auto* box = new QMessageBox(QMessageBox::Question, title, lines.join(QLatin1Char('\n')),
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
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

void MainWindow::saveAndThen(std::function<void()> then) {
    const QString path =
        lab_->sessionPath().isEmpty() ? askWhereToSave(this, sessionFileName(*lab_)) : lab_->sessionPath();
    if (!path.isEmpty()) after_saving_[saveSession(path)] = std::move(then);
}

void MainWindow::offerInterrupted() {
    lab_->findInterrupted();
}

/// Asks only where something would be lost: the next start restores a window whose state is kept.
void MainWindow::closeEvent(QCloseEvent* event) {
    const bool kept = keepState(true);
    event->setAccepted(may_close_ || kept || (!lab_->unsaved() && !lab_->anyUnderWay()));
    if (event->isAccepted()) keep_later_.stop();
    if (event->isAccepted()) return;
    leaving(tr("Quit"), [this] {
        may_close_ = true;
        close();
    });
}

// --- commands

void MainWindow::searchCommands() {
    std::vector<SearchEntry> entries;
    for (const widgets::KnobSpec& spec : widgets::knobTable()) {
        const QString key = QString::fromUtf8(spec.key);
        const widgets::KnobRow* row = knobs_->row(key);
        if (!row->isEnabledTo(knobs_)) continue;
        entries.push_back({tr("Knob: %1 (%2)").arg(row->label(), row->accessibleName()),
                           [this, key] { knobs_->reveal(key); }});
        // Seeds have their own field in the dialog.
        if (const auto* knob = qobject_cast<const widgets::Knob*>(row); knob && key != u"seed") {
            const widgets::KnobScale& scale = knob->scale();
            entries.push_back(
                {tr("Sweep over %1 (%2)…").arg(row->label(), row->accessibleName()),
                 [this, key, low = scale.low, high = scale.high] { sweeps_->createOver(key, low, high); }});
        }
    }
    for (const widgets::PanelInfo& info : widgets::panels())
        entries.push_back(
            {tr("Panel: %1").arg(info.title), [this, id = info.id] { grid_->currentCell()->setPanel(id); }});
    for (const widgets::NamedRecipe& preset : presets_)
        entries.push_back(
            {tr("Preset: %1").arg(preset.title), [this, name = preset.name] { lab_->loadPreset(name); }});
    for (const Preset& story : stories())
        entries.push_back({tr("Story: %1").arg(storyTitle(story)),
                           [this, name = QString::fromLatin1(story.name)] { tellStory(name); }});
    for (SearchEntry& entry : gallery_->commands()) entries.push_back(std::move(entry));
    auto* search = new CommandSearch(actions(), std::move(entries), this);
    search->move(mapToGlobal(QPoint((width() - search->width()) / 2, strip_->height() + 8)));
    search->show();
}

void MainWindow::showShortcuts() {
    searchCommands();
}

void MainWindow::exportCurrent() {
    if (sweeps_->shown()) return exportPlot(sweeps_->map()->currentPlot());
    exportPanel(*grid_->currentCell());
}

/// What is written to a file is of every step.
bool MainWindow::isReadToItsEnd() {
    const QString line = lab_->notReadYet();
    if (!line.isEmpty()) banner_->tell(line);
    return line.isEmpty();
}

void MainWindow::exportPanel(const PanelCell& cell) {
    if (!isReadToItsEnd()) return;
    widgets::FigureSpec spec;
    if (!lab_->sessionPath().isEmpty()) spec.sessions << lab_->sessionPath();
    spec.panel = cell.panel();
    spec.options = cell.options();
    if (lab_->step() != Lab::kNewest) spec.step = lab_->step();
    if (lab_->groups().any()) spec.group_by = "seed";
    auto* dialog = new ExportDialog(cell.plot()->figure(), cell.plot()->viewState(), recipeText(),
                                    std::move(spec), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::saveCsv() {
    if (sweeps_->shown()) return saveCsvOfPlot(sweeps_->map()->currentPlot());
    saveCsvOf(*grid_->currentCell());
}

void MainWindow::saveCsvOf(const PanelCell& cell) {
    if (!isReadToItsEnd()) return;
    saveCsvAs(*cell.plot()->figure(), cell.plot()->viewState());
}

void MainWindow::saveCsvAs(const widgets::Figure& figure, const widgets::PlotViewState& view) {
    Settings settings;
    const QString proposal = QDir(settings.lastFolder()).filePath(figure.panel + QStringLiteral(".csv"));
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save CSV"), proposal, QStringLiteral("*.csv"));
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    try {
        widgets::exportCsv(figure, view, path);
    } catch (const std::exception& error) {
        banner_->tell(QString::fromUtf8(error.what()));
    }
}

void MainWindow::copyFigure() {
    if (sweeps_->shown()) return copyPlot(sweeps_->map()->currentPlot());
    copyFigureOf(*grid_->currentCell());
}

void MainWindow::copyFigureOf(const PanelCell& cell) {
    if (!isReadToItsEnd()) return;
    copyAsFigure(*cell.plot()->figure(), cell.plot()->viewState());
}

void MainWindow::copyAsFigure(const widgets::Figure& figure, const widgets::PlotViewState& view) {
    widgets::ExportOptions options;
    options.view = view;
    options.metadata = recipeText();
    auto* content = new QMimeData;
    content->setData(QStringLiteral("image/svg+xml"), widgets::renderFigure(figure, options));
    options.format = widgets::FileFormat::Png;
    QImage image;
    image.loadFromData(widgets::renderFigure(figure, options), "PNG");
    content->setImageData(image);
    QApplication::clipboard()->setMimeData(content);
    banner_->tell(tr("Copied the figure: SVG and PNG"));
}

QString MainWindow::recipeText() const {
    std::string text;
    for (const LabRun& run : lab_->runs()) text += (text.empty() ? "" : "\n") + run.data->recipe.text();
    return QString::fromStdString(text);
}

void MainWindow::copyExperiment() {
    QApplication::clipboard()->setText(QString::fromStdString(recipe_json(lab_->selected().recipe)));
    banner_->tell(tr("Copied the recipe of %1").arg(QString::fromStdString(lab_->selected().data->name)));
}

void MainWindow::pasteExperiment() {
    try {
        Recipe recipe = parse_recipe(QApplication::clipboard()->text().toStdString(), "clipboard");
        complete_without_data(recipe);  // what only the data can tell, the engine fills in
        lab_->useRecipe(recipe, tr("paste experiment"));
        banner_->tell(
            tr("Pasted the recipe into %1").arg(QString::fromStdString(lab_->selected().data->name)));
    } catch (const std::exception& error) {
        banner_->tell(QString::fromUtf8(error.what()));
    }
}

void MainWindow::explainCurrent() {
    if (sweeps_->shown()) return help_->explain(*sweeps_->map()->currentPlot()->figure());
    explain(*grid_->currentCell());
}

void MainWindow::explain(const PanelCell& cell) {
    help_->explain(*cell.plot()->figure());
}

void MainWindow::toggleTheme() {
    theme_ordered_ = false;
    setDark(!dark_);
}

void MainWindow::togglePresentation() {
    sweeps_->show(false);
    presentation_->setOn(!presentation_->isOn());
    arrangeForSize();
    showTransport();
    showStoryAction();
}

void MainWindow::toggleRail() {
    setWide(!grid_->isWide());
}

void MainWindow::focusCurrent() {
    if (sweeps_->shown()) return;
    const PanelCell* current = grid_->currentCell();
    const auto& cells = grid_->cells();
    const int index = static_cast<int>(std::find(cells.begin(), cells.end(), current) - cells.begin());
    grid_->focusCell(grid_->focusedCell() == index && !presentation_->isOn() ? -1 : index);
}

void MainWindow::leaveFocus() {
    for (auto* drawer : findChildren<widgets::Drawer*>(QString(), Qt::FindDirectChildrenOnly))
        if (drawer->isVisible()) return drawer->hide();
    if (banner_->isVisible())
        banner_->hide();
    else if (sweeps_->shown())
        sweeps_->show(false);
    else if (presentation_->isOn())
        togglePresentation();
    else
        grid_->focusCell(-1);
}

void MainWindow::addComparison() {
    lab_->addRun(lab_->selected().recipe);
}

void MainWindow::chooseDevice(const QString& backend) {
    lab_->chooseDevice(backend);
    Settings().setBackend(QString::fromStdString(lab_->backend()));
}

void MainWindow::showDevices() {
    if (transport_->isVisible()) transport_->device()->showMenu();
}

void MainWindow::renameSelected() {
    strip_->editName(QString::fromStdString(lab_->selected().id));
}

void MainWindow::resumeSelected() {
    const LabRun& run = lab_->selected();
    if (run.resumable())
        lab_->resumeRuns({run.id});
    else
        banner_->tell(tr("%1 can be resumed only after it was stopped or failed")
                          .arg(QString::fromStdString(run.data->name)));
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Home)
        lab_->setStep(0);
    else if (event->key() == Qt::Key_End)
        lab_->setStep(Lab::kNewest);
    else
        QMainWindow::keyPressEvent(event);
}

}  // namespace normscope::app
