// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/findings_band.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/common/text_size.h"
#include "widgets/findings/group_key.h"
#include "widgets/findings/remedy_box.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/story/story_buttons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kFindingsBandInterval = 200;  // ms between updates
constexpr int kFindingsBandLeft = 12, kFindingsBandTop = 4, kFindingsBandGap = 16, kMore = 32;  // px
constexpr int kFindingsBandSmall = 11;

/// A line each.
QString namesExcept(const QStringList& names, const std::vector<ColumnContent>& shown) {
    QStringList others;
    for (qsizetype g = 0; g < names.size(); ++g)
        if (std::none_of(shown.begin(), shown.end(),
                         [g](const ColumnContent& column) { return column.hue == g; }))
            others << names[g];
    return others.join(u'\n');
}

}  // namespace

FindingsBand::FindingsBand(std::function<FindingsContent()> content, QWidget* parent)
    : QWidget(parent),
      content_(std::move(content)),
      later_(this, kFindingsBandInterval, [this] { refresh(); }),
      layout_(new QHBoxLayout(this)) {
    setObjectName(QStringLiteral("findingsBand"));
    setAccessibleRole(this, QAccessible::Grouping);
    setAccessibleName(tr("Findings"));
    setFixedHeight(kHeight);
    layout_->setContentsMargins(kFindingsBandLeft, kFindingsBandTop, kFindingsBandLeft, kFindingsBandTop);
    layout_->setSpacing(kFindingsBandGap);
    more_ = new QLabel(this);
    more_->setObjectName(QStringLiteral("moreRuns"));
    more_->setFont(sized(font(), kFindingsBandSmall));
    more_->setForegroundRole(QPalette::PlaceholderText);  // muted
    remedies_ = new RemedyBox(this);
    connect(remedies_, &RemedyBox::draftsRequested, this, &FindingsBand::draftsRequested);
    connect(remedies_, &RemedyBox::tryRequested, this, &FindingsBand::tryRequested);
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

void FindingsBand::refreshLater() {
    later_.request();
}

/// The columns that fit into a width, in the order of the groups.
std::vector<ColumnContent> FindingsBand::fitting(const FindingsContent& content, int space) const {
    std::vector<ColumnContent> shown;
    int used = 0;
    for (const std::size_t group : content.order) {
        ColumnContent column = content.column(group);
        used += FindingsColumn::widthOf(column, font()) + kFindingsBandGap;
        const bool last = shown.size() + 1 == content.order.size();
        if (!shown.empty() && used + (last ? 0 : kMore + kFindingsBandGap) > space) break;
        shown.push_back(std::move(column));
    }
    std::sort(shown.begin(), shown.end(),
              [](const ColumnContent& a, const ColumnContent& b) { return a.hue < b.hue; });
    return shown;
}

QPoint FindingsBand::below(int group) const {
    const auto of = std::find_if(columns_.begin(), columns_.end(), [&](const FindingsColumn* column) {
        return column->content().hue == group;
    });
    const QWidget* at = of != columns_.end() ? *of
                        : columns_.empty()   ? static_cast<const QWidget*>(this)
                                             : columns_.front();
    return at->mapTo(window(), QPoint(0, at->height() + kFindingsBandTop));
}

/// `space`: what the first column may take where it is alone.
void FindingsBand::setColumns(const std::vector<ColumnContent>& contents, int space) {
    while (columns_.size() > contents.size()) {
        delete columns_.back();
        columns_.pop_back();
    }
    while (columns_.size() < contents.size()) {
        auto* column = new FindingsColumn(this);
        connect(column, &FindingsColumn::whyRequested, this,
                [this, column] { Q_EMIT whyRequested(column->content().hue, below(column->content().hue)); });
        columns_.push_back(column);
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

QWidget* FindingsBand::right() const {
    for (QWidget* widget :
         {static_cast<QWidget*>(remedies_), static_cast<QWidget*>(key_), static_cast<QWidget*>(stories_)})
        if (!widget->isHidden()) return widget;
    return nullptr;
}

void FindingsBand::refresh() {
    const FindingsContent content = content_();
    remedies_->setContent(content.remedies);
    const bool remedies = content.remedies.has_value(), grouped = !content.key.isEmpty();
    key_->setVisible(grouped && !remedies);
    if (grouped) key_->setLines(content.key);
    const int inner = width() - 2 * kFindingsBandLeft;
    const int least = remedies  ? RemedyBox::kWidth
                      : grouped ? key_->sizeHint().width()
                                : stories_->minimumChipWidth();
    const std::vector<ColumnContent> shown = fitting(content, inner - least);
    const std::size_t uncovered = content.order.size() - shown.size();
    // Not at the expense of the only column.
    const int first = FindingsColumn::widthOf(shown.front(), font());
    const bool count =
        uncovered > 0 && (shown.size() > 1 || first + kMore + 2 * kFindingsBandGap <= inner - least);
    const int counted = count ? kMore + kFindingsBandGap : 0;
    setColumns(shown, inner - least - kFindingsBandGap - counted);
    more_->setVisible(count);
    more_->setText(tr("%1\nmore").arg(uncovered));
    more_->setToolTip(namesExcept(content.names, shown));
    int used = counted;
    for (const ColumnContent& column : shown)
        used += FindingsColumn::widthOf(column, font()) + kFindingsBandGap;
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
        painter.fillRect(widget->x() - kFindingsBandGap / 2, 8, 1, height() - 16, themeOf(palette()).grid);
    }
}

}  // namespace normscope::widgets
