// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claims_drawer.h"

#include "widgets/claims/claim_texts.h"
#include "widgets/common/verdict_mark.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <map>

namespace normscope::widgets {

namespace {

constexpr int kAll = -1;  // of a filter

QString stateText(const ClaimsState& of) {
    const QString at = of.step ? ClaimsDrawer::tr("step %1").arg(*of.step) : QString();
    if (of.running) {
        if (!of.replaying.isEmpty()) return of.replaying;
        if (at.isEmpty()) return ClaimsDrawer::tr("preparing");
        return ClaimsDrawer::tr("measuring at %1: %2 of %3").arg(at).arg(of.done).arg(of.wanted);
    }
    if (!of.checked)
        return of.next_newest ? ClaimsDrawer::tr("not measured · Check measures it at its newest checkpoint")
                              : ClaimsDrawer::tr("not measured · Check measures it at step %1").arg(of.next);
    return of.done < of.wanted
               ? ClaimsDrawer::tr("measured at %1 · %2 of %3").arg(at).arg(of.done).arg(of.wanted)
               : ClaimsDrawer::tr("measured at %1").arg(at);
}

}  // namespace

/// The number of results by verdict, each with the verdict's shape.
class ClaimsDrawer::Counts : public QWidget {
  public:
    explicit Counts(QWidget* parent) : QWidget(parent) {
        setObjectName(QStringLiteral("claimCounts"));
        setFont(smallFont(font()));
        setFixedHeight(fontMetrics().height() + 4);
    }
    void count(const ClaimResults& results) {
        std::map<ClaimVerdict, int> counts;
        for (const auto& [_, result] : results) ++counts[result.verdict];
        texts_.clear();
        QStringList names;
        for (const ClaimVerdict verdict : claimVerdicts())
            if (counts.count(verdict)) {
                names << QStringLiteral("%1 %2").arg(counts.at(verdict)).arg(verdictWord(verdict));
                texts_.push_back({markOf(verdict), names.back(), {}});
            }
        setAccessibleName(names.join(QStringLiteral(", ")));
        update();
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        for (MarkedText& text : texts_) text.colour = palette().color(QPalette::Text);
        paintMarked(painter, rect(), font(), texts_);
    }

  private:
    std::vector<MarkedText> texts_;
};

ClaimsDrawer::ClaimsDrawer(QWidget* over, QWidget* parent)
    : ListDrawer({"claimsDrawer", "claimsTitle", "claimSearch", "claimsEmpty"}, new ClaimsList, kWidth, over,
                 parent),
      claims_(static_cast<ClaimsList*>(list_)),
      state_(new QLabel(this)),
      remark_(new QLabel(this)),
      button_(new QPushButton(this)),
      counts_(new Counts(this)),
      paper_(addChoice("claimPaper", tr("Paper"))),
      verdict_(addChoice("claimVerdict", tr("Verdict"))) {
    setAccessibleName(tr("Claims"));
    state_->setObjectName(QStringLiteral("claimsState"));
    remark_->setObjectName(QStringLiteral("claimsRemark"));
    for (QLabel* label : {state_, remark_}) {
        label->setFont(smallFont(label->font()));
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
    }
    state_->setForegroundRole(QPalette::PlaceholderText);
    button_->setObjectName(QStringLiteral("claimsButton"));
    button_->setAutoDefault(false);
    paper_->addItem(tr("All papers"), kAll);
    for (const ClaimPaper& paper : claimPapers()) paper_->addItem(paper.title, int(paper.letter));
    verdict_->addItem(tr("All verdicts"), kAll);
    for (const ClaimVerdict verdict : claimVerdicts())
        verdict_->addItem(verdictWord(verdict), static_cast<int>(verdict));
    search_->setPlaceholderText(tr("Find in statements and results"));
    search_->setAccessibleName(tr("Find a claim"));
    heading_->insertWidget(1, button_);
    int at = 1;
    for (QWidget* line :
         {static_cast<QWidget*>(state_), static_cast<QWidget*>(remark_), static_cast<QWidget*>(counts_)})
        column_->insertWidget(at++, line);
    addHint(tr("Up and Down select · Enter unfolds · Tab reaches what is unfolded"));
    QWidget* before = button_;
    for (QWidget* next : {static_cast<QWidget*>(paper_), static_cast<QWidget*>(verdict_),
                          static_cast<QWidget*>(search_), static_cast<QWidget*>(claims_)}) {
        setTabOrder(before, next);
        before = next;
    }
    connect(button_, &QPushButton::clicked, this,
            [this] { Q_EMIT running_ ? cancelRequested() : checkRequested(); });
    connect(claims_, &ClaimsList::knobRequested, this, &ClaimsDrawer::knobRequested);
    connect(claims_, &ClaimsList::showRequested, this, &ClaimsDrawer::showRequested);
    filter();
}

void ClaimsDrawer::open() {
    appear();
    claims_->setFocus();
}

void ClaimsDrawer::setResults(ClaimResults results, bool outdated) {
    claims_->setResults(std::move(results), outdated);
    counts_->count(claims_->results());
    filter();
}

void ClaimsDrawer::setResult(const std::string& id, const ClaimResult& result) {
    claims_->setResult(id, result);
    counts_->count(claims_->results());
    filter();
}

void ClaimsDrawer::setState(const ClaimsState& state) {
    running_ = state.running;
    title_->setText(tr("Claims · %1").arg(state.run));
    state_->setText(stateText(state));
    QStringList remarks;
    if (!state.outdated.isEmpty()) remarks << tr("Outdated: %1").arg(state.outdated);
    if (!state.remark.isEmpty()) remarks << tr("Weights of step 0, as %1").arg(state.remark);
    if (!running_ && !state.failure.isEmpty()) remarks << state.failure;
    if (!state.obstacle.isEmpty()) remarks << tr("Cannot be measured: %1").arg(state.obstacle);
    remark_->setText(remarks.join(u'\n'));
    remark_->setVisible(!remarks.isEmpty());
    button_->setEnabled(running_ || state.obstacle.isEmpty());
    button_->setText(running_                                      ? tr("Cancel")
                     : !state.checked || !state.outdated.isEmpty() ? tr("Check")
                     : state.done < state.wanted                   ? tr("Check the rest")
                                                                   : tr("Check again"));
}

QStringList ClaimsDrawer::allIds() const {
    QStringList ids;
    for (const Claim& claim : claims()) ids << QString::fromLatin1(claim.id);
    return ids;
}

QString ClaimsDrawer::searched(const QString& id) const {
    const Claim* claim = find_claim(id.toStdString());
    QString text = QStringLiteral("%1 %2 %3")
                       .arg(id, QString::fromUtf8(claim->number), QString::fromUtf8(claim->statement));
    if (const ClaimResult* result = claims_->result(id))
        text += u' ' + verdictWord(result->verdict) + u' ' + QString::fromStdString(result->detail);
    return text;
}

bool ClaimsDrawer::passes(const QString& id) const {
    const int paper = paper_->currentData().toInt(), verdict = verdict_->currentData().toInt();
    if (paper != kAll && id[0] != QChar(paper)) return false;
    const ClaimResult* result = claims_->result(id);
    return verdict == kAll || (result && static_cast<int>(result->verdict) == verdict);
}

bool ClaimsDrawer::isOfList(int key) const {
    return ListDrawer::isOfList(key) || key == Qt::Key_Return || key == Qt::Key_Enter;
}

}  // namespace normscope::widgets
