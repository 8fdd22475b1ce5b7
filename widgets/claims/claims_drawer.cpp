// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claims_drawer.h"

#include "app/lab/lab.h"
#include "app/lab/studies/claims_check.h"
#include "widgets/claims/claim_texts.h"
#include "widgets/claims/claims_list.h"
#include "widgets/plots/glyph.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <algorithm>
#include <limits>
#include <map>

namespace normscope::app {

namespace {

constexpr int kAll = -1;  // of a filter

QFont small(QFont font) {
    font.setPixelSize(11);
    return font;
}

}  // namespace

/// The number of results by verdict, each with the verdict's shape.
class ClaimsDrawer::Counts : public QWidget {
  public:
    explicit Counts(QWidget* parent) : QWidget(parent) {
        setObjectName(QStringLiteral("claimCounts"));
        setFont(small(font()));
        setFixedHeight(fontMetrics().height() + 4);
    }
    void set(const CheckedClaims* of) {
        std::map<ClaimVerdict, int> counts;
        if (of)
            for (const auto& [_, result] : of->results) ++counts[result.verdict];
        if (counts == counts_) return;
        counts_ = counts;
        QStringList texts;
        for (const ClaimVerdict verdict : claimVerdicts())
            if (counts_.count(verdict)) texts << text(verdict);
        setAccessibleName(texts.join(QStringLiteral(", ")));
        update();
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const QColor ink = palette().color(QPalette::Text);
        int x = 0;
        for (const ClaimVerdict verdict : claimVerdicts()) {
            if (!counts_.count(verdict)) continue;
            paintVerdict(painter, QRectF(x, (height() - kGlyph) / 2.0, kGlyph, kGlyph), verdict, ink);
            x += kGlyph + 4;
            painter.setPen(ink);
            const int width = fontMetrics().horizontalAdvance(text(verdict));
            painter.drawText(QRect(x, 0, width + 1, height()), Qt::AlignVCenter, text(verdict));
            x += width + 12;
        }
    }

  private:
    static constexpr int kGlyph = 12;
    QString text(ClaimVerdict verdict) const {
        return QStringLiteral("%1 %2").arg(counts_.at(verdict)).arg(verdictWord(verdict));
    }
    std::map<ClaimVerdict, int> counts_;
};

ClaimsDrawer::ClaimsDrawer(Lab& lab, QWidget* over, QWidget* parent)
    : Drawer(over, kWidth, parent),
      lab_(lab),
      check_(ClaimsCheck::of(lab)),
      title_(new QLabel(this)),
      state_(new QLabel(this)),
      remark_(new QLabel(this)),
      empty_(new QLabel(tr("No claim matches"), this)),
      button_(new QPushButton(this)),
      counts_(new Counts(this)),
      paper_(new QComboBox(this)),
      verdict_(new QComboBox(this)),
      search_(new QLineEdit(this)),
      list_(new ClaimsList(this)) {
    setObjectName(QStringLiteral("claimsDrawer"));
    setAccessibleName(tr("Claims"));
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    title_->setObjectName(QStringLiteral("claimsTitle"));
    title_->setTextFormat(Qt::PlainText);
    state_->setObjectName(QStringLiteral("claimsState"));
    remark_->setObjectName(QStringLiteral("claimsRemark"));
    for (QLabel* label : {state_, remark_}) {
        label->setFont(small(label->font()));
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
    }
    state_->setForegroundRole(QPalette::PlaceholderText);
    button_->setObjectName(QStringLiteral("claimsButton"));
    button_->setAutoDefault(false);
    empty_->setObjectName(QStringLiteral("claimsEmpty"));
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    paper_->setObjectName(QStringLiteral("claimPaper"));
    paper_->setAccessibleName(tr("Paper"));
    paper_->addItem(tr("All papers"), kAll);
    for (const ClaimPaper& paper : claimPapers()) paper_->addItem(paper.title, int(paper.letter));
    verdict_->setObjectName(QStringLiteral("claimVerdict"));
    verdict_->setAccessibleName(tr("Verdict"));
    verdict_->addItem(tr("All verdicts"), kAll);
    for (const ClaimVerdict verdict : claimVerdicts())
        verdict_->addItem(verdictWord(verdict), static_cast<int>(verdict));
    search_->setObjectName(QStringLiteral("claimSearch"));
    search_->setPlaceholderText(tr("Find in statements and results"));
    search_->setAccessibleName(tr("Find a claim"));
    search_->installEventFilter(this);
    auto* close = new widgets::GlyphButton(widgets::Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* keys = new QLabel(tr("Up and Down select · Enter unfolds · Tab reaches what is unfolded"), this);
    keys->setFont(small(keys->font()));
    keys->setForegroundRole(QPalette::PlaceholderText);

    auto* heading = new QHBoxLayout;
    heading->addWidget(title_, 1);
    heading->addWidget(button_);
    heading->addWidget(close);
    auto* filters = new QHBoxLayout;
    filters->setContentsMargins(0, 0, 6, 0);
    filters->addWidget(paper_);
    filters->addWidget(verdict_);
    filters->addWidget(search_, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 8, 8);
    column->setSpacing(6);
    column->addLayout(heading);
    column->addWidget(state_);
    column->addWidget(remark_);
    column->addWidget(counts_);
    column->addLayout(filters);
    column->addWidget(empty_, 1);
    column->addWidget(list_, 1);
    column->addWidget(keys);
    QWidget* before = close;
    for (QWidget* next :
         {static_cast<QWidget*>(button_), static_cast<QWidget*>(paper_), static_cast<QWidget*>(verdict_),
          static_cast<QWidget*>(search_), static_cast<QWidget*>(list_)}) {
        setTabOrder(before, next);
        before = next;
    }

    list_->setResults([this](const std::string& id) -> const ClaimResult* {
        if (!shown_) return nullptr;
        const auto found = shown_->results.find(id);
        return found == shown_->results.end() ? nullptr : &found->second;
    });
    connect(button_, &QPushButton::clicked, this, &ClaimsDrawer::press);
    connect(paper_, &QComboBox::currentIndexChanged, this, &ClaimsDrawer::filter);
    connect(verdict_, &QComboBox::currentIndexChanged, this, &ClaimsDrawer::filter);
    connect(search_, &QLineEdit::textChanged, this, &ClaimsDrawer::filter);
    connect(list_, &ClaimsList::knobRequested, this, &ClaimsDrawer::knobRequested);
    connect(list_, &ClaimsList::showRequested, this, &ClaimsDrawer::showRequested);
    connect(&check_, &ClaimsCheck::changed, this, &ClaimsDrawer::refresh);
    connect(&check_, &ClaimsCheck::measured, this, [this](const QString& id) {
        if (!isVisible()) return;
        shown_ = check_.shown();
        ++drawn_;
        sayState();
        list_->refresh(id.toStdString());
        filter();
    });
    filter();
}

void ClaimsDrawer::open() {
    appear();
    list_->setFocus();
}

void ClaimsDrawer::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    refresh();
}

void ClaimsDrawer::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    shown_ = nullptr;  // not followed any more
    drawn_ = std::numeric_limits<std::size_t>::max();
}

void ClaimsDrawer::press() {
    if (check_.running())
        check_.cancel();
    else
        check_.start();
}

void ClaimsDrawer::refresh() {
    if (!isVisible()) return;
    const CheckedClaims* now = check_.shown();
    const QString outdated = check_.outdated();
    // While a run trains or a knob is dragged the rows mostly stay as they are.
    const std::size_t results = now ? now->results.size() : 0;
    const bool same = now == shown_ && outdated == outdated_ && results == drawn_;
    shown_ = now;
    outdated_ = outdated;
    drawn_ = results;
    sayState();
    if (same) return;
    list_->setOutdated(!outdated.isEmpty());
    list_->refresh();
    filter();
}

void ClaimsDrawer::sayState() {
    const CheckedClaims* of = shown_;
    const QString &outdated = outdated_, obstacle = check_.obstacle(), failure = check_.failure();
    const std::size_t done = of ? of->results.size() : 0;
    title_->setText(tr("Claims · %1").arg(QString::fromStdString(lab_.selected().data->name)));
    const QString at = of && of->measured_at ? tr("step %1").arg(*of->measured_at) : QString();
    QString state;
    if (check_.running()) {
        state = !check_.replaying().isEmpty() ? check_.replaying()
                : at.isEmpty()                ? tr("preparing")
                               : tr("measuring at %1: %2 of %3").arg(at).arg(done).arg(check_.wanted());
    } else if (!of) {
        const ClaimsSubject now = check_.subject();
        state = now.trained && now.step == now.last
                    ? tr("not measured · Check measures it at its newest checkpoint")
                    : tr("not measured · Check measures it at step %1").arg(now.step);
    } else {
        state = done < check_.wanted()
                    ? tr("measured at %1 · %2 of %3").arg(at).arg(done).arg(check_.wanted())
                    : tr("measured at %1").arg(at);
    }
    state_->setText(state);
    QStringList remarks;
    if (!outdated.isEmpty()) remarks << tr("Outdated: %1").arg(outdated);
    if (of && !of->remark.isEmpty()) remarks << tr("Weights of step 0, as %1").arg(of->remark);
    if (!check_.running() && !failure.isEmpty()) remarks << failure;
    if (!obstacle.isEmpty()) remarks << tr("Cannot be measured: %1").arg(obstacle);
    remark_->setText(remarks.join(u'\n'));
    remark_->setVisible(!remarks.isEmpty());
    counts_->set(of);
    button_->setEnabled(check_.running() || obstacle.isEmpty());
    button_->setText(check_.running()             ? tr("Cancel")
                     : !of || !outdated.isEmpty() ? tr("Check")
                     : done < check_.wanted()     ? tr("Check the rest")
                                                  : tr("Check again"));
}

bool ClaimsDrawer::passes(const Claim& claim) const {
    if (const int paper = paper_->currentData().toInt(); paper != kAll && claim.id[0] != paper) return false;
    const ClaimResult* result = list_->result(QString::fromLatin1(claim.id));
    if (const int verdict = verdict_->currentData().toInt(); verdict != kAll)
        if (!result || static_cast<int>(result->verdict) != verdict) return false;
    QString text = QStringLiteral("%1 %2 %3")
                       .arg(QString::fromLatin1(claim.id), QString::fromUtf8(claim.number),
                            QString::fromUtf8(claim.statement));
    if (result) text += u' ' + verdictWord(result->verdict) + u' ' + QString::fromStdString(result->detail);
    const QStringList words = search_->text().split(u' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

void ClaimsDrawer::filter() {
    std::vector<const Claim*> shown;
    for (const Claim& claim : claims())
        if (passes(claim)) shown.push_back(&claim);
    list_->setClaims(shown);
    list_->setVisible(!shown.empty());
    empty_->setVisible(shown.empty());
}

bool ClaimsDrawer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up || key == Qt::Key_Return || key == Qt::Key_Enter) {
            list_->setFocus();
            QCoreApplication::sendEvent(list_, event);
            return true;
        }
    }
    return Drawer::eventFilter(watched, event);
}

}  // namespace normscope::app
