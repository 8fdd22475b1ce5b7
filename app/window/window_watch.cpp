// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window for watchpoints and the cost of probes.
#include "app/window/window_watch.h"

#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/probe_costs_dialog.h"
#include "widgets/dialogs/watch_dialog.h"

#include <QEvent>
#include <QLabel>

namespace normscope::app {

namespace {

/// Opens the cost of the probes by a click on the line that shows it.
class CostClick final : public QObject {
  public:
    CostClick(MainWindow& window, QWidget& line) : QObject(&line), window_(window) {
        line.installEventFilter(this);
        line.setCursor(Qt::PointingHandCursor);
        line.setToolTip(MainWindow::tr("Which probes are measured, and what each takes (Ctrl+Shift+P)"));
    }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::MouseButtonRelease) showProbeCosts(window_);
        return QObject::eventFilter(watched, event);
    }

  private:
    MainWindow& window_;
};

}  // namespace

void addWatch(MainWindow& window) {
    MainWindow* w = &window;
    Lab* lab = window.lab();
    new CostClick(window, *w->findChild<QLabel*>(QStringLiteral("rates")));
    QObject::connect(lab, &Lab::watchTriggered, w, [w, lab](const QStringList& lines) {
        const QString text = lines.join(u'\n');
        // All of them may have ended with that step.
        if (!lab->anyUnderWay()) return w->banner()->tell(text);
        const QString paused = MainWindow::tr("Paused. %1").arg(text);
        w->banner()->tell(paused, {{MainWindow::tr("Resume (Space)"), [lab] { lab->play(); }}});
    });
    QObject::connect(lab, &Lab::trainingChanged, w, [w, lab] {
        // Resumed in another way.
        if (lab->playing() && w->banner()->message().startsWith(MainWindow::tr("Paused. %1").arg(QString())))
            w->banner()->hide();
    });
}

void editWatch(MainWindow& window) {
    Lab* lab = window.lab();
    const RunIds targets = lab->targetsOfList(QStringLiteral("watch"));
    QStringList names;
    for (const LabRun& run : lab->runs())
        if (targets.count(run.id)) names << QString::fromStdString(run.data->name);
    if (names.isEmpty())
        return window.banner()->tell(MainWindow::tr("A reference is not trained: select another run"));
    auto* dialog = new WatchDialog(lab->selected().recipe.watch, names.join(QStringLiteral(", ")), &window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    QObject::connect(dialog, &QDialog::accepted, lab, [lab, dialog] { lab->setWatch(dialog->watch()); });
    dialog->open();
}

void showProbeCosts(MainWindow& window) {
    auto* dialog = new ProbeCostsDialog(*window.lab(), &window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

}  // namespace normscope::app
