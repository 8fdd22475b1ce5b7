// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/preflight_html.h"

#include "core/base/error.h"
#include "core/recipe/recipe.h"
#include "widgets/export/xml_text.h"
#include "widgets/report/preflight_figures.h"
#include "widgets/report/preflight_text.h"

#include <QRegularExpression>

namespace normscope::widgets {
namespace {

const char* kStyle = R"(
:root { color-scheme: light dark; --page: #ffffff; --text: #1d2125; --muted: #5a6270; --line: #d5d9df; }
.dark { display: none; }
@media (prefers-color-scheme: dark) {
  :root { --page: #1a1d21; --text: #e8eaed; --muted: #a5adb8; --line: #3a4048; }
  .dark { display: block; }
  .light { display: none; }
}
body { font: 15px/1.45 Inter, system-ui, sans-serif; background: var(--page); color: var(--text);
       max-width: 75rem; margin: 1.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
p, .note { color: var(--muted); margin: .2rem 0; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 500; color: var(--muted); font-size: .85rem; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .9rem .3rem 0; vertical-align: top; }
th:nth-child(1) { width: 17rem; }
th:nth-child(2) { width: 13rem; }
th:nth-child(3) { width: 9rem; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.number:nth-child(2) { font-weight: 600; }
.note { font-size: .87rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(21rem, 1fr)); gap: 1rem; margin: 1.6rem 0; }
figure { margin: 0; }
svg { width: 100%; height: auto; }
pre { overflow-x: auto; font-size: .8rem; }
@media print { body { font-size: 9pt; margin: 0; } details { display: none; } }
)";

/// One figure as an <svg> element of a page. Its texts are outlines, so that they fit wherever the page is
/// read; a screen reader gets the figure's sentence. Ids are unique in the page by `prefix`.
QString inlineSvg(const Figure& figure, Theme::Kind theme, const QString& prefix) {
    ExportOptions paper = preflightPaper({90, 60});
    paper.theme = theme;
    paper.text_paths = true;
    QString svg = QString::fromUtf8(renderFigure(figure, paper));
    const qsizetype begin = svg.indexOf(QLatin1String("<svg"));
    if (begin < 0) throw SystemError("export: SVG: no element where one was expected");
    svg.remove(0, begin);
    svg.replace(QLatin1String(" id=\""), QLatin1String(" id=\"") + prefix);
    svg.replace(QLatin1String("url(#"), QLatin1String("url(#") + prefix);
    svg.replace(QLatin1String("href=\"#"), QLatin1String("href=\"#") + prefix);
    svg.replace(0, 4, QStringLiteral("<svg role=\"img\""));
    static const QRegularExpression description(QStringLiteral("<desc>.*?</desc>"),
                                                QRegularExpression::DotMatchesEverythingOption);
    svg.replace(description, QStringLiteral("<desc>") + xmlText(figure.summary) + QStringLiteral("</desc>"));
    return svg;
}

QString tableOf(int number, const PreflightSection& section) {
    QString html = QStringLiteral(
                       "<section id=\"%1\">\n<h2>%2 %3</h2>\n<table>\n<thead><tr><th>quantity</th>"
                       "<th>measured</th><th>theory</th><th>range of validity</th></tr></thead>\n<tbody>\n")
                       .arg(QLatin1String(section.id))
                       .arg(number)
                       .arg(xmlText(QString::fromUtf8(section.title)));
    for (const PreflightRow& row : section.rows)
        html += QStringLiteral(
                    "<tr><td>%1</td><td class=\"number\">%2</td><td class=\"number\">%3</td>"
                    "<td class=\"note\">%4</td></tr>\n")
                    .arg(xmlText(QString::fromStdString(row.name)), xmlText(valueText(row)),
                         xmlText(boundText(row)), xmlText(noteText(row)));
    return html + QStringLiteral("</tbody>\n</table>\n</section>\n");
}

}  // namespace

QByteArray preflightHtml(const Preflight& preflight) {
    const QString title = xmlText(preflightTitle(preflight));
    QString html = QStringLiteral(
                       "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                       "<meta charset=\"utf-8\"/>\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                       "<meta name=\"generator\" content=\"Normscope\"/>\n<title>") +
                   title + QStringLiteral("</title>\n<style>") + QLatin1String(kStyle) +
                   QStringLiteral("</style>\n</head>\n<body>\n<h1>") + title + QStringLiteral("</h1>\n<p>") +
                   xmlText(preflightSubject(preflight)) + QStringLiteral("</p>\n");
    int number = 0;
    for (const PreflightSection& section : preflight.sections) html += tableOf(++number, section);
    html += QStringLiteral("<div class=\"figures\">\n");
    int index = 0;
    for (const Figure& figure : preflightFigures(preflight)) {
        ++index;
        html += QStringLiteral("<figure>\n<div class=\"light\">") +
                inlineSvg(figure, Theme::Kind::Light, QStringLiteral("l%1-").arg(index)) +
                QStringLiteral("</div>\n<div class=\"dark\">") +
                inlineSvg(figure, Theme::Kind::Dark, QStringLiteral("d%1-").arg(index)) +
                QStringLiteral("</div>\n</figure>\n");
    }
    const std::string recipe = recipe_json(preflight.run.recipe.value("preflight"));
    html += QStringLiteral("</div>\n<details><summary>Recipe</summary>\n<pre>") +
            xmlText(QString::fromStdString(recipe)) +
            QStringLiteral("</pre>\n</details>\n</body>\n</html>\n");
    return html.toUtf8();
}

}  // namespace normscope::widgets
