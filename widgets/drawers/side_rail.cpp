// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/side_rail.h"

#include "app/lab/lab.h"
#include "widgets/figures/runs/diagnosis.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QScrollBar>
#include <QTimer>

namespace normscope::app {

namespace {

constexpr std::size_t kEventsShown = 12;  // of each run, the newest

QString list(const QStringList& lines) {
    if (lines.isEmpty()) return {};
    QString html = QStringLiteral("<ul style='margin: 2px 0 6px -26px'>");
    for (const QString& line : lines) html += QStringLiteral("<li>%1</li>").arg(line.toHtmlEscaped());
    return html + QStringLiteral("</ul>");
}

QStringList events(const RunData& run, qint64 step) {
    QStringList lines;
    for (auto it = run.events.rbegin(); it != run.events.rend() && lines.size() < qsizetype(kEventsShown);
         ++it)
        if (it->step <= step)
            lines << QObject::tr("step %1: %2").arg(it->step).arg(QString::fromStdString(it->text));
    return lines;
}

}  // namespace

SideRail::SideRail(Lab& lab, QWidget* parent) : QTextBrowser(parent), lab_(lab) {
    setObjectName(QStringLiteral("sideRail"));
    setAccessibleName(tr("Runs, diagnosis and events"));
    setFrameShape(QFrame::NoFrame);
    // The diagnosis reads every probe: a few times a second suffices for text.
    auto* timer = new QTimer(this);
    timer->setSingleShot(true);
    timer->setInterval(200);
    connect(timer, &QTimer::timeout, this, &SideRail::refresh);
    const auto later = [this, timer] {
        if (isVisible() && !timer->isActive()) timer->start();
    };
    connect(&lab, &Lab::runsChanged, this, later);
    connect(&lab, &Lab::viewChanged, this, later);
    connect(&lab, &Lab::dataChanged, this, later);
}

void SideRail::showEvent(QShowEvent* event) {
    QTextBrowser::showEvent(event);
    refresh();
}

void SideRail::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && isVisible()) refresh();
}

void SideRail::refresh() {
    const widgets::Theme theme = widgets::themeOf(palette());
    std::vector<Recipe> recipes;
    // One run of each group of seeds, in the group's colour.
    const std::vector<std::size_t> shown = lab_.onePerGroup();
    for (const std::size_t i : shown) recipes.push_back(lab_.runs()[i].recipe);
    const auto differences = widgets::runDifferences(recipes);
    QString html;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.runs()[shown[i]].data;
        html +=
            QStringLiteral("<h4 style='margin: 8px 0 2px 0; color: %1'>%2</h4>")
                .arg(theme.run(static_cast<int>(i)).name(), QString::fromStdString(run.name).toHtmlEscaped());
        html += QStringLiteral("<p style='margin: 0; color: %1'>%2</p>")
                    .arg(theme.muted.name(), differences[i].join(QStringLiteral(" · ")).toHtmlEscaped());
        html += list(widgets::diagnose(run, lab_.exploring() ? 0 : lab_.step()));
        const QStringList happened = events(run, lab_.step());
        if (!happened.isEmpty())
            html += QStringLiteral("<p style='margin: 0'><b>%1</b></p>").arg(tr("Events")) + list(happened);
    }
    const int scrolled = verticalScrollBar()->value();
    setHtml(html);
    verticalScrollBar()->setValue(scrolled);
}

}  // namespace normscope::app
