// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/findings_band.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QTimer>
#include <algorithm>

#include "app/lab/lab.h"
#include "core/findings/findings.h"
#include "widgets/plots/theme.h"
#include "widgets/plots/palette_theme.h"

namespace normscope::app {

namespace {

constexpr int kMostColumns = 3;
constexpr int kInterval = 200;  // ms: words need no display rate

/// The findings of the band: the others are in the right rail.
bool told(FindingKind kind) {
    return kind == FindingKind::Outcome || kind == FindingKind::Factors || kind == FindingKind::Departures;
}

/// How much of the findings stands in a column; the tooltip and the right rail have all of them.
enum class Room { Whole, Brief, NoFactors, OutcomeOnly };

bool tellsMore(const std::vector<Finding>& found) {
    return std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.kind == FindingKind::Departures; });
}

/// Indices of the runs shown: the first ones, the last of them replaced by the selected one where it is not among them.
std::vector<int> shownRuns(const Lab& lab) {
    std::vector<int> shown;
    for (int i = 0; i < std::min<int>(kMostColumns, static_cast<int>(lab.runs().size())); ++i) shown.push_back(i);
    if (lab.selectedRun() >= kMostColumns) shown.back() = lab.selectedRun();
    return shown;
}

/// As much of a run's findings as has room, as HTML.
QString fitting(const QString& name, const std::vector<Finding>& found, bool exploring, const QColor& colour,
                const QLabel& label) {
    QTextDocument page;
    page.setDefaultFont(label.font());
    page.setDocumentMargin(0);
    page.setTextWidth(label.width());
    QString html;
    for (const Room level : {Room::Whole, Room::Brief, Room::NoFactors, Room::OutcomeOnly}) {
        QStringList lines;
        for (const Finding& finding : found) {
            // Before training there is no outcome: the gradient then says how the weights stand.
            if (!told(finding.kind) && !(exploring && finding.kind == FindingKind::Gradient)) continue;
            if (level >= Room::NoFactors && finding.kind == FindingKind::Factors) continue;
            if (level == Room::OutcomeOnly && finding.kind == FindingKind::Departures) continue;
            const bool brief = level >= Room::Brief && !finding.brief.empty();
            QString text = QString::fromStdString(brief ? finding.brief : finding.text);
            if (finding.kind == FindingKind::Outcome && text.startsWith(name + u' ')) text.remove(0, name.size() + 1);
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

FindingsBand::FindingsBand(Lab& lab, QWidget* parent) : QWidget(parent), lab_(lab), columns_(new QHBoxLayout(this)) {
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

void FindingsBand::refresh() {
    const std::vector<int> shown = shownRuns(lab_);
    while (labels_.size() > shown.size()) {
        delete labels_.back();
        labels_.pop_back();
    }
    while (labels_.size() < shown.size()) {
        auto* label = new QLabel(this);
        label->setWordWrap(true);
        label->setTextFormat(Qt::RichText);
        label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
        columns_->addWidget(label, 1);
        labels_.push_back(label);
    }
    const widgets::Theme theme = widgets::themeOf(palette());
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.runs()[static_cast<std::size_t>(shown[i])].data;
        const std::vector<Finding> found = findings(run, lab_.exploring() ? 0 : lab_.step());
        columns_->setStretch(static_cast<int>(i), tellsMore(found) ? 3 : 2);
        QStringList all;
        for (const Finding& finding : found) all << QString::fromStdString(finding.text);
        labels_[i]->setToolTip(all.join(u'\n'));
        labels_[i]->setAccessibleName(QString::fromStdString(run.name));
        labels_[i]->setAccessibleDescription(all.join(QStringLiteral(". ")));
    }
    columns_->activate();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const RunData& run = *lab_.runs()[static_cast<std::size_t>(shown[i])].data;
        labels_[i]->setText(fitting(QString::fromStdString(run.name), findings(run, lab_.exploring() ? 0 : lab_.step()),
                                    lab_.exploring(), theme.run(shown[i]), *labels_[i]));
    }
}

void FindingsBand::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    refresh();
}

}  // namespace normscope::app
