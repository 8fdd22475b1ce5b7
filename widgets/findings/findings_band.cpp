// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/findings_band.h"

#include "app/lab/lab.h"
#include "core/findings/findings.h"
#include "widgets/common/text_size.h"
#include "widgets/findings/group_key.h"
#include "widgets/findings/group_summary.h"
#include "widgets/findings/remedy_box.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/story/story_buttons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QTimer>
#include <algorithm>

namespace normscope::app {

namespace {

constexpr int kInterval = 200;                              // ms between updates
constexpr int kLeft = 12, kTop = 4, kGap = 16, kMore = 32;  // px
constexpr int kSmall = 11;

/// The group whose remedies are shown; else that of the selected run.
std::size_t groupOfRemedies(const Lab& lab) {
    const RemedyTrials* trials = lab.remedyTrials();
    for (std::size_t i = 0; trials && i < lab.runs().size(); ++i)
        if (lab.runs()[i].id == trials->run) return lab.groups().groupOf(i);
    return lab.groups().groupOf(static_cast<std::size_t>(lab.selectedRun()));
}

/// The groups in the order in which they get a column.
std::vector<std::size_t> byPriority(const Lab& lab) {
    std::vector<std::size_t> order{lab.groups().groupOf(static_cast<std::size_t>(lab.selectedRun()))};
    if (const std::size_t other = groupOfRemedies(lab); other != order.front()) order.push_back(other);
    for (std::size_t g = 0; g < lab.groups().groups.size(); ++g)
        if (std::find(order.begin(), order.end(), g) == order.end()) order.push_back(g);
    return order;
}

BandNumber medianLoss(const GroupSummary& summary) {
    const bool before = summary.step < 0;
    const QString loss = before ? FindingsBand::tr("held-out loss") : FindingsBand::tr("loss");
    const QString none = before
                             ? FindingsBand::tr("Loss: not measured yet")
                             : FindingsBand::tr("Loss: no run has a finite one at step %1").arg(summary.step);
    if (summary.loss.isEmpty()) return {QStringLiteral("–"), {}, loss, {}, none};
    const QString tip = before
                            ? FindingsBand::tr(
                                  "Median of the runs' losses at step 0 (%1 nat)\n"
                                  "Mean cross-entropy of the held-out batch")
                                  .arg(summary.range.isEmpty() ? summary.loss : summary.range)
                            : FindingsBand::tr(
                                  "Median of the runs' losses at step %1, then the lowest and the highest\n"
                                  "Mean cross-entropy of the step's training batch, before the update")
                                  .arg(summary.step);
    const QString caption = before || summary.range.isEmpty() ? loss : summary.range;
    return {summary.loss, FindingsBand::tr("nat"), caption, {}, tip, summary.draft};
}

ColumnContent ofGroup(const Lab& lab, std::size_t index) {
    const GroupSummary summary = groupSummary(lab, lab.groups().groups[index]);
    return {summary.name,          static_cast<int>(index), {},
            {medianLoss(summary)}, summary.outcomes,        summary.outcome};
}

/// The inputs of the two panels whose numbers the band shows.
struct Inputs {
    widgets::PanelInput growth, gradients;
    explicit Inputs(const Lab& lab)
        : growth(lab.panelInput("growth", {})), gradients(lab.panelInput("gradients", {})) {}
};

ColumnContent ofRun(const Lab& lab, const Inputs& inputs, std::size_t group) {
    const std::size_t run = lab.groups().groups[group].members.front();
    const RunData& data = *lab.runs()[run].data;
    ColumnContent content;
    content.name = QString::fromStdString(data.name);
    content.hue = static_cast<int>(group);
    content.headline = headline(data, lab.step());
    if (content.headline.title.empty()) content.numbers = runNumbers(inputs.growth, inputs.gradients, run);
    QStringList sentences;
    for (const Finding& finding : findings(data, lab.exploring() ? 0 : lab.step()))
        sentences << QString::fromStdString(finding.text);
    content.findings = sentences.join(u'\n');
    return content;
}

}  // namespace

FindingsBand::FindingsBand(Lab& lab, QWidget* parent)
    : QWidget(parent), lab_(lab), layout_(new QHBoxLayout(this)) {
    setObjectName(QStringLiteral("findingsBand"));
    setAccessibleName(tr("Findings"));
    setFixedHeight(kHeight);
    layout_->setContentsMargins(kLeft, kTop, kLeft, kTop);
    layout_->setSpacing(kGap);
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
    more_ = new QLabel(this);
    more_->setObjectName(QStringLiteral("moreRuns"));
    more_->setFont(sized(font(), kSmall));
    more_->setForegroundRole(QPalette::PlaceholderText);  // muted
    remedies_ = new RemedyBox(lab, this);
    key_ = new GroupKey(this);
    stories_ = new StoryButtons(this);
    connect(stories_, &StoryButtons::storyChosen, this, &FindingsBand::storyChosen);
    layout_->addWidget(more_);
    layout_->addStretch(0);
    for (QWidget* widget :
         {static_cast<QWidget*>(remedies_), static_cast<QWidget*>(key_), static_cast<QWidget*>(stories_)})
        layout_->addWidget(widget);
    refresh();
}

QStringList FindingsBand::texts() const {
    QStringList all;
    for (const FindingsColumn* column : columns_) all << column->text();
    return all;
}

QString FindingsBand::more() const {
    return more_->isHidden() ? QString() : more_->text().simplified();
}

void FindingsBand::setStories(const QStringList& names, const QStringList& titles, const QString& caption) {
    stories_->setStories(names, titles, caption);
    refresh();
}

/// The columns that fit into a width, in the order of the groups.
std::vector<ColumnContent> FindingsBand::contents(int space) const {
    const bool grouped = lab_.groups().any();
    const Inputs inputs(lab_);
    const std::vector<std::size_t> order = byPriority(lab_);
    std::vector<ColumnContent> shown;
    int used = 0;
    for (const std::size_t group : order) {
        ColumnContent content = grouped ? ofGroup(lab_, group) : ofRun(lab_, inputs, group);
        used += FindingsColumn::widthOf(content, font()) + kGap;
        const bool last = shown.size() + 1 == order.size();
        if (!shown.empty() && used + (last ? 0 : kMore + kGap) > space) break;
        shown.push_back(std::move(content));
    }
    std::sort(shown.begin(), shown.end(),
              [](const ColumnContent& a, const ColumnContent& b) { return a.hue < b.hue; });
    return shown;
}

/// `space`: what the first column may take where it is alone.
void FindingsBand::setColumns(const std::vector<ColumnContent>& contents, int space) {
    while (columns_.size() > contents.size()) {
        delete columns_.back();
        columns_.pop_back();
    }
    while (columns_.size() < contents.size()) {
        columns_.push_back(new FindingsColumn(this));
        layout_->insertWidget(static_cast<int>(columns_.size()) - 1, columns_.back());
        columns_.back()->show();
    }
    bool headlines = false;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const bool headline = !contents[i].headline.title.empty();
        const int needed = FindingsColumn::widthOf(contents[i], font());
        const int width = contents.size() == 1 ? std::clamp(needed, 0, std::max(0, space)) : needed;
        columns_[i]->setMinimumWidth(width);
        columns_[i]->setMaximumWidth(headline ? QWIDGETSIZE_MAX : width);
        layout_->setStretch(static_cast<int>(i), headline ? 1 : 0);
        headlines |= headline;
        columns_[i]->setContent(contents[i]);
    }
    // Without a headline the space is between the columns and what is at the right.
    const int spacer = static_cast<int>(columns_.size()) + 1;
    layout_->setStretch(spacer - 1, 0);
    layout_->setStretch(spacer, headlines ? 0 : 1);
    for (int i = spacer + 1; i < layout_->count(); ++i) layout_->setStretch(i, 0);
}

/// A line each.
QString FindingsBand::namesExcept(const std::vector<ColumnContent>& shown) const {
    QStringList names;
    const auto& groups = lab_.groups().groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (std::none_of(shown.begin(), shown.end(),
                         [g](const ColumnContent& column) { return column.hue == static_cast<int>(g); }))
            names << groups[g].name;
    return names.join(u'\n');
}

QWidget* FindingsBand::right() const {
    for (QWidget* widget :
         {static_cast<QWidget*>(remedies_), static_cast<QWidget*>(key_), static_cast<QWidget*>(stories_)})
        if (!widget->isHidden()) return widget;
    return nullptr;
}

void FindingsBand::refresh() {
    remedies_->refresh();
    const bool remedies = !remedies_->isHidden(), grouped = lab_.groups().any();
    key_->setVisible(grouped && !remedies);
    if (grouped) key_->describe(lab_);
    const int inner = width() - 2 * kLeft;
    const int least = remedies  ? RemedyBox::kWidth
                      : grouped ? key_->sizeHint().width()
                                : stories_->leastWidth();
    const std::vector<ColumnContent> shown = contents(inner - least);
    const std::size_t uncovered = lab_.groups().groups.size() - shown.size();
    // Not at the expense of the only column.
    const int first = FindingsColumn::widthOf(shown.front(), font());
    const bool count = uncovered > 0 && (shown.size() > 1 || first + kMore + 2 * kGap <= inner - least);
    const int counted = count ? kMore + kGap : 0;
    setColumns(shown, inner - least - kGap - counted);
    more_->setVisible(count);
    more_->setText(tr("%1\nmore").arg(uncovered));
    more_->setToolTip(namesExcept(shown));
    int used = counted;
    for (const ColumnContent& content : shown) used += FindingsColumn::widthOf(content, font()) + kGap;
    if (remedies || grouped)
        stories_->hide();
    else
        stories_->setSpace(inner - used);
    update();
}

void FindingsBand::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    refresh();
}

/// A hairline before what is at the right.
void FindingsBand::paintEvent(QPaintEvent*) {
    if (const QWidget* widget = right()) {
        QPainter painter(this);
        painter.fillRect(widget->x() - kGap / 2, 8, 1, height() - 16, widgets::themeOf(palette()).grid);
    }
}

}  // namespace normscope::app
