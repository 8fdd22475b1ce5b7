// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/findings_band.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTextDocumentFragment>
#include <QTimer>
#include <algorithm>

#include "app/lab.h"
#include "core/findings/findings.h"
#include "widgets/plots/theme.h"
#include "widgets/stack/palette_theme.h"

namespace normscope::app {

namespace {

constexpr int kMostColumns = 3;
constexpr int kInterval = 200;  // ms: words need no display rate

/// The findings of the band: the others are in the right rail.
bool told(FindingKind kind) {
    return kind == FindingKind::Outcome || kind == FindingKind::Factors || kind == FindingKind::Departures;
}

/// Indices of the runs shown: the first ones, the last of them replaced by the selected one where it is not among them.
std::vector<int> shownRuns(const Lab& lab) {
    std::vector<int> shown;
    for (int i = 0; i < std::min<int>(kMostColumns, static_cast<int>(lab.runs().size())); ++i) shown.push_back(i);
    if (lab.selectedRun() >= kMostColumns) shown.back() = lab.selectedRun();
    return shown;
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
        QStringList lines, all;
        for (const Finding& finding : findings(run, lab_.exploring() ? 0 : lab_.step())) {
            const QString text = QString::fromStdString(finding.text);
            all << text;
            // Before training there is no outcome: the gradient then says how the weights stand.
            if (told(finding.kind) || (lab_.exploring() && finding.kind == FindingKind::Gradient)) lines << text.toHtmlEscaped();
        }
        labels_[i]->setText(QStringLiteral("<div style='font-size: 11px'><b style='color: %1'>%2</b><br>%3</div>")
                                .arg(theme.run(shown[i]).name(), QString::fromStdString(run.name).toHtmlEscaped(),
                                     lines.join(QStringLiteral("<br>"))));
        labels_[i]->setToolTip(all.join(u'\n'));
        labels_[i]->setAccessibleName(QString::fromStdString(run.name));
        labels_[i]->setAccessibleDescription(all.join(QStringLiteral(". ")));
    }
}

}  // namespace normscope::app
