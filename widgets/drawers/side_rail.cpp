// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/side_rail.h"

#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QScrollBar>

namespace normscope::widgets {

namespace {

QString list(const QStringList& lines) {
    if (lines.isEmpty()) return {};
    QString html = QStringLiteral("<ul style='margin: 2px 0 6px -26px'>");
    for (const QString& line : lines) html += QStringLiteral("<li>%1</li>").arg(line.toHtmlEscaped());
    return html + QStringLiteral("</ul>");
}

}  // namespace

SideRail::SideRail(QWidget* parent) : QTextBrowser(parent) {
    setObjectName(QStringLiteral("sideRail"));
    setAccessibleName(tr("Runs, diagnosis and events"));
    setFrameShape(QFrame::NoFrame);
}

void SideRail::showEvent(QShowEvent* event) {
    QTextBrowser::showEvent(event);
    Q_EMIT shown();
}

void SideRail::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) write();
}

void SideRail::setRuns(std::vector<RailRun> runs) {
    runs_ = std::move(runs);
    write();
}

void SideRail::write() {
    const Theme theme = themeOf(palette());
    QString html;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const RailRun& run = runs_[i];
        html += QStringLiteral("<h4 style='margin: 8px 0 2px 0; color: %1'>%2</h4>")
                    .arg(theme.run(static_cast<int>(i)).name(), run.name.toHtmlEscaped());
        html += QStringLiteral("<p style='margin: 0; color: %1'>%2</p>")
                    .arg(theme.muted.name(), run.differences.join(QStringLiteral(" · ")).toHtmlEscaped());
        html += list(run.findings);
        if (!run.events.isEmpty())
            html += QStringLiteral("<p style='margin: 0'><b>%1</b></p>").arg(tr("Events")) + list(run.events);
    }
    const int scrolled = verticalScrollBar()->value();
    setHtml(html);
    verticalScrollBar()->setValue(scrolled);
}

}  // namespace normscope::widgets
