// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/findings_band.h"

#include "app/group_summary.h"
#include "app/lab/lab.h"
#include "app/remedy_box.h"
#include "core/findings/findings.h"
#include "core/findings/headline.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/plots/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QTimer>
#include <algorithm>

namespace normscope::app {

namespace {

constexpr int kMostColumns = 3;
constexpr int kTwoColumnsFrom = 900;  // width of the band, with remedies
constexpr int kGroupWidth = 150;      // of a group's numbers
constexpr int kInterval = 200;        // ms between updates

/// Whether a finding is shown in the band: the others are in the right rail.
bool inBand(FindingKind kind) {
    return kind == FindingKind::Outcome || kind == FindingKind::Factors || kind == FindingKind::Departures;
}

/// How much of the findings is shown in a column; the tooltip and the right rail have all of them.
enum class Extent { Whole, Brief, NoFactors, OutcomeOnly };

bool hasDepartures(const std::vector<Finding>& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const Finding& f) { return f.kind == FindingKind::Departures; });
}

/// Indices of the runs shown: one of each of the first groups, the run that `must` be shown in the place of
/// its group, or of the last one.
std::vector<int> shownRuns(const Lab& lab, int most, int must) {
    std::vector<int> shown;
    const auto group = lab.groups().groupOf(static_cast<std::size_t>(must));
    const std::vector<std::size_t> runs = lab.onePerGroup();
    for (std::size_t g = 0; g < std::min<std::size_t>(runs.size(), std::size_t(most)); ++g)
        shown.push_back(static_cast<int>(runs[g]));
    if (group < shown.size())
        shown[group] = must;
    else
        shown.back() = must;
    return shown;
}

/// The run whose remedies are shown; else the selected one.
int runToShow(const Lab& lab) {
    const RemedyTrials* trials = lab.remedyTrials();
    for (std::size_t i = 0; trials && i < lab.runs().size(); ++i)
        if (lab.runs()[i].id == trials->run) return static_cast<int>(i);
    return lab.selectedRun();
}

/// The headline of a run that failed at or before the shown step; empty otherwise.
Headline headlineOf(const RunData& run, qint64 step) {
    return run.outcome.step <= step ? headline(run) : Headline{};
}

/// As much of a headline as fits, as HTML.
QString fitting(const QString& name, const Headline& failed, const QColor& colour, const QLabel& label) {
    QTextDocument page;
    page.setDefaultFont(label.font());
    page.setDocumentMargin(0);
    page.setTextWidth(label.width());
    QString html;
    for (const int lines : {2, 1, 0}) {
        html = QStringLiteral("<div style='font-size: 14px; font-weight: 600'>%1</div>")
                   .arg(QString::fromStdString(failed.title).toHtmlEscaped());
        QStringList sentences;
        if (lines > 0 && !failed.measured.empty()) sentences << QString::fromStdString(failed.measured);
        if (lines > 1 && !failed.began.empty()) sentences << QString::fromStdString(failed.began);
        html += QStringLiteral("<div style='font-size: 11px'><b style='color: %1'>%2</b> %3</div>")
                    .arg(colour.name(), name.toHtmlEscaped(),
                         sentences.join(QStringLiteral(". ")).toHtmlEscaped());
        page.setHtml(html);
        if (page.size().height() <= label.height()) break;
    }
    return html;
}

/// As much of a run's findings as fits, as HTML.
QString fitting(const QString& name, const std::vector<Finding>& found, bool exploring, const QColor& colour,
                const QLabel& label) {
    QTextDocument page;
    page.setDefaultFont(label.font());
    page.setDocumentMargin(0);
    page.setTextWidth(label.width());
    QString html;
    for (const Extent level : {Extent::Whole, Extent::Brief, Extent::NoFactors, Extent::OutcomeOnly}) {
        QStringList lines;
        for (const Finding& finding : found) {
            // Before training there is no outcome: the gradient is shown instead.
            if (!inBand(finding.kind) && !(exploring && finding.kind == FindingKind::Gradient)) continue;
            if (level >= Extent::NoFactors && finding.kind == FindingKind::Factors) continue;
            if (level == Extent::OutcomeOnly && finding.kind == FindingKind::Departures) continue;
            const bool brief = level >= Extent::Brief && !finding.brief.empty();
            QString text = QString::fromStdString(brief ? finding.brief : finding.text);
            if (finding.kind == FindingKind::Outcome && text.startsWith(name + u' '))
                text.remove(0, name.size() + 1);
            lines << text.toHtmlEscaped();
        }
        html = QStringLiteral("<div style='font-size: 11px'><b style='color: %1'>%2</b> %3</div>")
                   .arg(colour.name(), name.toHtmlEscaped(), lines.join(QStringLiteral("<br>")));
        page.setHtml(html);
        if (page.size().height() <= label.height()) break;
    }
    return html;
}

}  // namespace

FindingsBand::FindingsBand(Lab& lab, QWidget* parent)
    : QWidget(parent), lab_(lab), columns_(new QHBoxLayout(this)) {
    setObjectName(QStringLiteral("findingsBand"));
    setAccessibleName(tr("Findings"));
    setFixedHeight(kHeight);
    columns_->setContentsMargins(10, 4, 10, 4);
    columns_->setSpacing(16);
    auto* timer = new QTimer(this);
    timer->setSingleShot(true);
    timer->setInterval(kInterval);
    connect(timer, &QTimer::timeout, this, &FindingsBand::refresh);
    const auto later = [timer] {
        if (!timer->isActive()) timer->start();
    };
    connect(&lab, &Lab::runsChanged, this, later);
    connect(&lab, &Lab::viewChanged, this, later);
    connect(&lab, &Lab::dataChanged, this, later);
    connect(&lab, &Lab::remediesChanged, this, later);
    remedies_ = new RemedyBox(lab, this);
    columns_->addWidget(remedies_);
    refresh();
}

void FindingsBand::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) refresh();
}

QStringList FindingsBand::texts() const {
    QStringList all;
    for (const QLabel* label : labels_) all << QTextDocumentFragment::fromHtml(label->text()).toPlainText();
    return all;
}

void FindingsBand::setColumns(std::size_t count) {
    while (labels_.size() > count) {
        delete labels_.back();
        labels_.pop_back();
    }
    while (labels_.size() < count) {
        auto* label = new QLabel(this);
        label->setWordWrap(true);
        label->setTextFormat(Qt::RichText);
        label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
        columns_->insertWidget(static_cast<int>(labels_.size()), label, 1);
        labels_.push_back(label);
    }
}

/// Instead of the findings of single runs what each group reached.
void FindingsBand::showGroups() {
    const auto& groups = lab_.groups().groups;
    const int space = width() - (remedies_->isHidden() ? 0 : remedies_->width());
    const std::size_t most = std::max<std::size_t>(1, std::size_t(space / kGroupWidth));
    const std::size_t selected = lab_.groups().groupOf(static_cast<std::size_t>(lab_.selectedRun()));
    setColumns(std::min(most, groups.size()));
    const widgets::Theme theme = widgets::themeOf(palette());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const std::size_t g = i + 1 == labels_.size() && selected > i ? selected : i;
        const GroupSummary summary = groupSummary(lab_, groups[g]);
        columns_->setStretch(static_cast<int>(i), 1);
        labels_[i]->setText(groupHtml(summary, theme.run(static_cast<int>(g))));
        labels_[i]->setToolTip(
            tr("Median of the runs' losses, each the mean of its last 20; then the lowest and the highest"));
        labels_[i]->setAccessibleName(summary.name);
        labels_[i]->setAccessibleDescription(
            QStringList{summary.loss, summary.range, summary.outcomes}.join(QStringLiteral(", ")));
    }
}

void FindingsBand::refresh() {
    remedies_->refresh();
    if (lab_.groups().any()) return showGroups();
    const std::vector<int> shown = shownRuns(lab_,
                                             remedies_->isHidden()       ? kMostColumns
                                             : width() < kTwoColumnsFrom ? 1
                                                                         : 2,
                                             runToShow(lab_));
    setColumns(shown.size());
    const widgets::Theme theme = widgets::themeOf(palette());
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.runs()[static_cast<std::size_t>(shown[i])].data;
        const std::vector<Finding> found = findings(run, lab_.exploring() ? 0 : lab_.step());
        const Headline failed = headlineOf(run, lab_.step());
        columns_->setStretch(static_cast<int>(i), hasDepartures(found) || !failed.title.empty() ? 3 : 2);
        QStringList all;
        for (const Finding& finding : found) all << QString::fromStdString(finding.text);
        labels_[i]->setToolTip(all.join(u'\n'));
        labels_[i]->setAccessibleName(QString::fromStdString(run.name));
        labels_[i]->setAccessibleDescription(all.join(QStringLiteral(". ")));
    }
    columns_->activate();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.runs()[static_cast<std::size_t>(shown[i])].data;
        const std::size_t group = lab_.groups().groupOf(static_cast<std::size_t>(shown[i]));
        const QColor colour = theme.run(static_cast<int>(group));
        const QString name = QString::fromStdString(run.name);
        const Headline failed = headlineOf(run, lab_.step());
        labels_[i]->setText(failed.title.empty()
                                ? fitting(name, findings(run, lab_.exploring() ? 0 : lab_.step()),
                                          lab_.exploring(), colour, *labels_[i])
                                : fitting(name, failed, colour, *labels_[i]));
    }
}

void FindingsBand::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    refresh();
}

}  // namespace normscope::app
