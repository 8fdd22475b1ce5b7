// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/remedy_box.h"

#include "core/base/number_text.h"
#include "core/run/complete_run.h"
#include "core/run/shown_remedies.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/findings/remedy_button.h"
#include "widgets/findings/remedy_table.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kRemedyBoxSmall = 11;

QLabel* smallLabel(QWidget* parent) {
    auto* label = new QLabel(parent);
    QFont font = label->font();
    font.setPixelSize(kRemedyBoxSmall);
    label->setFont(font);
    label->setTextFormat(Qt::PlainText);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    label->setFixedHeight(15);
    return label;
}

QToolButton* textButton(QWidget* parent, const char* name) {
    auto* button = new QToolButton(parent);
    button->setObjectName(QLatin1String(name));
    button->setAutoRaise(true);
    button->setFixedHeight(17);
    button->setFocusPolicy(Qt::TabFocus);
    QFont font = button->font();
    font.setPixelSize(kRemedyBoxSmall);
    font.setUnderline(true);
    button->setFont(font);
    return button;
}

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

QString duration(double seconds) {
    return seconds < 90 ? QObject::tr("%1 s").arg(std::max(1, static_cast<int>(std::lround(seconds))))
                        : QObject::tr("%1 min").arg(static_cast<int>(std::lround(seconds / 60)));
}

QString layers(int depth) {
    return QObject::tr("gradient, layer 1 over %1").arg(depth);
}

/// "a third of the rate (0.00056)", or with the reason where it is not the gradient.
QString shortReason(const RemedyContent::Choice& remedy) {
    QString why = text(remedy.draft.why_not);
    const QString gradient = QStringLiteral("gradient ");
    if (why.startsWith(gradient)) why.remove(0, gradient.size());
    return remedy.draft.first.loss.empty() ? QObject::tr("%1 (not possible)").arg(remedy.name)
                                           : QStringLiteral("%1 (%2)").arg(remedy.name, why);
}

QString aboutDrafts(const RemedyContent& content) {
    QStringList lines{QObject::tr("The order is that of the kinds of change, no ranking. A draft states "
                                  "whether a change is worth a whole run, not which one ends lowest"),
                      QObject::tr("Gradient: median of the training batches of the draft's last 4 steps"),
                      QObject::tr("Gain: how much lower the loss of these steps is than that of the run "
                                  "itself; at most what it dropped in the draft")};
    if (content.control.kind == DraftControl::Kind::Slow)
        lines.back() = QObject::tr(
            "Gain: by how much more the loss dropped in the draft than in the run; at most what it is below "
            "a uniform guess");
    if (!content.control.loss_can_fall())
        lines << QObject::tr(
            "No loss drops in so few steps of this text: frequencies give no more than a uniform guess. The "
            "gradient alone decides");
    else if (content.control.kind == DraftControl::Kind::Later)
        lines << QObject::tr(
            "The run failed after these steps, so the drafts end before that: no gain is required");
    return lines.join(u'\n');
}

}  // namespace

RemedyBox::RemedyBox(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("remedyBox"));
    setAccessibleName(tr("What to try"));
    setFixedWidth(kWidth);
    title_ = smallLabel(this);
    title_->setObjectName(QStringLiteral("remediesTitle"));
    action_ = textButton(this, "remedyAction");
    QSizePolicy kept = title_->sizePolicy();
    kept.setRetainSizeWhenHidden(true);  // the buttons stay at the right
    title_->setSizePolicy(kept);
    back_ = textButton(this, "remedyTableSwitch");
    auto* head = new QHBoxLayout;
    head->setSpacing(6);
    head->addWidget(title_, 1);
    head->addWidget(back_);
    head->addWidget(action_);

    auto* drafts = new QWidget(this);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    for (std::size_t i = 0; i < kShownRemedies; ++i) {
        auto* button = new RemedyButton(drafts);
        button->setObjectName(QStringLiteral("remedy%1").arg(i + 1));
        connect(button, &RemedyButton::clicked, this, [this, i] {
            if (content_ && i < content_->shown.size())
                Q_EMIT tryRequested(content_->run, {content_->shown[i].index});
        });
        QSizePolicy policy = button->sizePolicy();
        policy.setRetainSizeWhenHidden(true);  // the others keep their width
        button->setSizePolicy(policy);
        row->addWidget(button, 1);
        buttons_.push_back(button);
    }
    not_enough_ = smallLabel(drafts);
    not_enough_->setObjectName(QStringLiteral("remediesNotEnough"));
    auto* column = new QVBoxLayout(drafts);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    column->addLayout(row);
    column->addWidget(not_enough_);
    column->addStretch(1);
    table_ = new RemedyTable(this);
    table_->setObjectName(QStringLiteral("remedyTable"));
    pages_ = new QStackedWidget(this);
    pages_->addWidget(drafts);
    pages_->addWidget(table_);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(1);
    all->addLayout(head);
    all->addWidget(pages_, 1);

    connect(action_, &QToolButton::clicked, this, &RemedyBox::act);
    connect(back_, &QToolButton::clicked, this, [this] {
        drafts_requested_ = !drafts_requested_;
        refresh();
    });
    hide();
}

void RemedyBox::setContent(const std::optional<RemedyContent>& content) {
    content_ = content;
    refresh();
}

bool RemedyBox::showsTable() const {
    return pages_->currentIndex() == 1;
}

std::vector<RemedyButton*> RemedyBox::buttons() const {
    std::vector<RemedyButton*> shown;
    for (RemedyButton* button : buttons_)
        if (!button->isHidden()) shown.push_back(button);
    return shown;
}

QString RemedyBox::notEnough() const {
    return not_enough_->toolTip();
}

void RemedyBox::act() {
    if (!content_) return;
    if (!content_->requested) {
        Q_EMIT draftsRequested();
        return;
    }
    drafts_requested_ = false;
    std::vector<std::size_t> shown;
    for (const RemedyContent::Choice& choice : content_->shown) shown.push_back(choice.index);
    Q_EMIT tryRequested(content_->run, shown);
}

void RemedyBox::paintEvent(QPaintEvent*) {
    if (!showsTable()) return;
    QPainter painter(this);
    table_->paintHead(painter, back_->height(), back_->x());
}

void RemedyBox::refresh() {
    setVisible(content_.has_value());
    if (!content_) return;
    if (table_of_ != content_->tried) {
        table_of_ = content_->tried;
        drafts_requested_ = false;
    }
    const bool table = !table_of_.empty() && !drafts_requested_;
    back_->setVisible(!table_of_.empty());
    back_->setText(table ? tr("Drafts") : tr("Table"));
    pages_->setCurrentIndex(table ? 1 : 0);
    title_->setVisible(!table);
    update();  // the head of the table
    table ? showTable() : showDrafts();
}

void RemedyBox::showDrafts() {
    const RemedyContent& shown = *content_;
    for (std::size_t i = 0; i < buttons_.size(); ++i) {
        buttons_[i]->setVisible(i < shown.shown.size());
        if (i >= shown.shown.size()) continue;
        buttons_[i]->setRemedy(shown.shown[i], shown.control.first, shown.hue);
    }

    const bool done = shown.made == shown.all;
    QString title = tr("What to try, not ranked: %1, and gain in 16 steps").arg(layers(shown.depth));
    if (!shown.obstacle.isEmpty())
        title = tr("No remedy can be tried: %1").arg(shown.obstacle);
    else if (!shown.requested)
        title =
            tr("What to try: %1 changes, drafts take about %2").arg(shown.all).arg(duration(shown.seconds));
    else if (!done)
        title += tr(" · %1 of %2").arg(shown.made).arg(shown.all);
    else if (shown.shown.empty())
        title = tr("No change that was drafted is enough");
    title_->setText(title);
    title_->setToolTip(title + u'\n' + aboutDrafts(shown));

    QStringList short_texts, long_texts;
    for (const RemedyContent::Choice& remedy : shown.not_enough) {
        short_texts << shortReason(remedy);
        long_texts << tr("%1 (%2): %3").arg(remedy.name, remedy.sentence, text(remedy.draft.why_not));
    }
    // As many as fit; the tooltip has all of them.
    QString line;
    for (qsizetype n = short_texts.size(); n > 0; --n) {
        line = tr("Not enough: %1").arg(short_texts.mid(0, n).join(QStringLiteral(", ")));
        if (n < short_texts.size()) line += tr(" and %1 more").arg(short_texts.size() - n);
        if (not_enough_->fontMetrics().horizontalAdvance(line) <= kWidth - 2) break;
    }
    not_enough_->setText(line);
    not_enough_->setToolTip(long_texts.join(u'\n'));

    const bool try_all = done && shown.shown.size() > 1;
    action_->setVisible(shown.obstacle.isEmpty() && (!shown.requested || try_all));
    action_->setText(!shown.requested          ? tr("Draft them")
                     : shown.shown.size() == 2 ? tr("Try both")
                                               : tr("Try all three"));
    action_->setToolTip(
        tr("Trains them from step 0 as further runs, in lock-step, and compares how they end"));
}

void RemedyBox::showTable() {
    action_->hide();
    table_->setRows(content_->rows, layers(content_->depth));
}

}  // namespace normscope::widgets
