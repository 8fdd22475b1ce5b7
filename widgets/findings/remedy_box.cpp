// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/remedy_box.h"

#include "app/lab/lab.h"
#include "core/base/number_text.h"
#include "core/run/whole_run.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/findings/remedy_button.h"
#include "widgets/findings/remedy_table.h"
#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kSmall = 11;

QLabel* smallLabel(QWidget* parent) {
    auto* label = new QLabel(parent);
    QFont font = label->font();
    font.setPixelSize(kSmall);
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
    font.setPixelSize(kSmall);
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

QString layers(const RemedyTrials& trials) {
    return QObject::tr("gradient, layer 1 ÷ %1").arg(trials.recipe.stack.depth);
}

/// "rate ÷ 3 (0.00056)", or with the reason where it is not the gradient.
QString shortReason(const Remedy& remedy, const DraftResult& draft) {
    QString why = text(draft.why_not);
    const QString gradient = QStringLiteral("gradient ");
    if (why.startsWith(gradient)) why.remove(0, gradient.size());
    return draft.first.loss.empty() ? QObject::tr("%1 (not possible)").arg(text(remedy.name))
                                    : QStringLiteral("%1 (%2)").arg(text(remedy.name), why);
}

RemedyTable::Row rowOf(const Lab& lab, const std::string& id) {
    RemedyTable::Row row;
    const auto& runs = lab.runs();
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == id; });
    if (run == runs.end()) {
        row.outcome = QObject::tr("removed");
        return row;
    }
    const RunData& data = *run->data;
    row.name = text(data.name);
    row.run = static_cast<int>(run - runs.begin());
    row.state = data.outcome.state;
    row.outcome = run->underWay() ? QObject::tr("step %1").arg(run->lastStep() + 1)
                                  : widgets::outcomeWord(data.outcome.state);
    const FinalValues values = final_values(data);
    if (run->underWay() || values.rows == 0) return row;
    row.loss = QStringLiteral("%1 ± %2").arg(text(number_text(values.loss, 3)),
                                             text(number_text(values.loss_error, 1)));
    row.gradient = text(number_text(values.gradient));
    return row;
}

}  // namespace

RemedyBox::RemedyBox(Lab& lab, QWidget* parent) : QWidget(parent), lab_(lab) {
    setObjectName(QStringLiteral("remedyBox"));
    setAccessibleName(tr("What to try"));
    setFixedWidth(kWidth);
    title_ = smallLabel(this);
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
    for (std::size_t i = 0; i < RemedyTrials::kShown; ++i) {
        auto* button = new RemedyButton(drafts);
        button->setObjectName(QStringLiteral("remedy%1").arg(i + 1));
        connect(button, &RemedyButton::clicked, this, [this, i] {
            const RemedyTrials* trials = lab_.remedyTrials();
            if (!trials) return;
            if (const auto best = trials->shown(); i < best.size()) lab_.tryRemedies({best[i]});
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
        drafts_wanted_ = !drafts_wanted_;
        refresh();
    });
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
    const RemedyTrials* trials = lab_.remedyTrials();
    if (!trials) return;
    if (!trials->requested) return lab_.draftRemedies();
    drafts_wanted_ = false;
    lab_.tryRemedies(trials->shown());
}

void RemedyBox::paintEvent(QPaintEvent*) {
    if (!showsTable()) return;
    QPainter painter(this);
    table_->paintHead(painter, back_->height(), back_->x());
}

void RemedyBox::refresh() {
    const RemedyTrials* trials = lab_.remedyTrials();
    setVisible(trials != nullptr);
    if (!trials) return;
    if (table_of_ != trials->tried) {
        table_of_ = trials->tried;
        drafts_wanted_ = false;
    }
    const bool table = !table_of_.empty() && !drafts_wanted_;
    back_->setVisible(!table_of_.empty());
    back_->setText(table ? tr("Drafts") : tr("Table"));
    pages_->setCurrentIndex(table ? 1 : 0);
    title_->setVisible(!table);
    update();  // the head of the table
    table ? showTable(*trials) : showDrafts(*trials);
}

void RemedyBox::showDrafts(const RemedyTrials& trials) {
    const auto best = trials.shown();
    const auto& runs = lab_.runs();
    const auto failed =
        std::find_if(runs.begin(), runs.end(), [&](const LabRun& run) { return run.id == trials.run; });
    for (std::size_t i = 0; i < buttons_.size(); ++i) {
        buttons_[i]->setVisible(i < best.size());
        if (i >= best.size()) continue;
        const Remedy& remedy = trials.remedies[best[i]];
        buttons_[i]->setRemedy(static_cast<int>(i) + 1, text(remedy.name), text(remedy.sentence),
                               *trials.drafts[best[i]], trials.own, static_cast<int>(failed - runs.begin()));
    }

    const auto made = std::count_if(trials.drafts.begin(), trials.drafts.end(),
                                    [](const auto& draft) { return draft.has_value(); });
    QString title = tr("What to try: %1, after a draft of 16 steps").arg(layers(trials));
    if (!trials.obstacle.empty())
        title = tr("No remedy can be tried: %1").arg(text(trials.obstacle));
    else if (!trials.requested)
        title = tr("What to try: %1 changes, drafts take about %2")
                    .arg(trials.remedies.size())
                    .arg(duration(trials.seconds));
    else if (!trials.done())
        title += tr(" · %1 of %2").arg(made).arg(trials.drafts.size());
    else if (best.empty())
        title = tr("No change that was drafted is enough");
    title_->setText(title);
    title_->setToolTip(title + u'\n' +
                       tr("Gradient: median of the training batches of the draft's last 4 steps"));

    QStringList short_texts, long_texts;
    for (const std::size_t i : trials.not_enough()) {
        const Remedy& remedy = trials.remedies[i];
        short_texts << shortReason(remedy, *trials.drafts[i]);
        long_texts << tr("%1 (%2): %3")
                          .arg(text(remedy.name), text(remedy.sentence), text(trials.drafts[i]->why_not));
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

    const bool try_all = trials.done() && best.size() > 1;
    action_->setVisible(trials.obstacle.empty() && (!trials.requested || try_all));
    action_->setText(!trials.requested  ? tr("Draft them")
                     : best.size() == 2 ? tr("Try both")
                                        : tr("Try all three"));
    action_->setToolTip(
        tr("Trains them from step 0 as further runs, in lock-step, and compares how they end"));
}

void RemedyBox::showTable(const RemedyTrials& trials) {
    action_->hide();
    std::vector<RemedyTable::Row> rows{rowOf(lab_, trials.run)};
    for (const std::string& id : trials.tried) rows.push_back(rowOf(lab_, id));
    table_->setRows(rows, layers(trials));
}

}  // namespace normscope::app
