// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claim_details.h"

#include "widgets/claims/claim_texts.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStringList>

namespace normscope::widgets {

namespace {

constexpr int kClaimDetailsLeft = 30, kClaimDetailsRight = 10,
              kBottom = 10;  // px; the left edge of the row's id

QLabel* line(QWidget* parent, int px) {
    auto* label = new QLabel(parent);
    QFont font = label->font();
    font.setPixelSize(px);
    label->setFont(font);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

}  // namespace

ClaimDetails::ClaimDetails(const QString& key, const QString& knob, const QString& panel, QWidget* parent)
    : QWidget(parent), sentence_(line(this, 12)), numbers_(line(this, 11)) {
    setObjectName(QStringLiteral("claimDetails"));
    sentence_->setObjectName(QStringLiteral("claimSentence"));
    numbers_->setObjectName(QStringLiteral("claimNumbers"));
    numbers_->setForegroundRole(QPalette::PlaceholderText);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kClaimDetailsLeft, 0, kClaimDetailsRight, kBottom);
    column->setSpacing(4);
    column->addWidget(sentence_);
    column->addWidget(numbers_);
    if (key.isEmpty() && panel.isEmpty()) return;
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    if (!key.isEmpty()) {
        auto* what = line(this, 11);
        what->setWordWrap(false);
        what->setForegroundRole(QPalette::PlaceholderText);
        what->setObjectName(QStringLiteral("claimChange"));
        what->setText(knob.isEmpty() ? tr("What would change this: %1 in the recipe").arg(key)
                                     : tr("What would change this:"));
        row->addWidget(what);
    }
    if (!knob.isEmpty()) {
        knob_ = new QPushButton(knob, this);
        knob_->setObjectName(QStringLiteral("claimKnob"));
        knob_->setAccessibleName(tr("What would change this: %1").arg(knob));
        connect(knob_, &QPushButton::clicked, this, &ClaimDetails::knobRequested);
        row->addWidget(knob_);
    }
    row->addStretch(1);
    if (!panel.isEmpty()) {
        show_ = new QPushButton(tr("Show in %1").arg(panel), this);
        show_->setObjectName(QStringLiteral("claimShow"));
        connect(show_, &QPushButton::clicked, this, &ClaimDetails::showRequested);
        row->addWidget(show_);
    }
    column->addLayout(row);
}

void ClaimDetails::setResult(const ClaimResult* result) {
    if (!result) {
        sentence_->setText(tr("Not measured on this run"));
        numbers_->hide();
        return;
    }
    QString sentence = QString::fromStdString(result->detail);
    if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
    QStringList numbers;
    if (const QString text = residualText(*result); !text.isEmpty()) numbers << text;
    if (result->verdict == ClaimVerdict::Toy)
        numbers << tr("depends on the scale of training: numbers, no verdict");
    sentence_->setText(sentence);
    sentence_->setVisible(!sentence.isEmpty());
    numbers_->setText(numbers.join(QStringLiteral(" · ")));
    numbers_->setVisible(!numbers.isEmpty());
}

int ClaimDetails::heightFor(int width) const {
    return layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width)
                                         : layout()->totalSizeHint().height();
}

QList<QPushButton*> ClaimDetails::buttons() const {
    QList<QPushButton*> all;
    for (QPushButton* button : {knob_, show_})
        if (button) all << button;
    return all;
}

QString ClaimDetails::text() const {
    QString all = sentence_->text();
    if (!numbers_->isHidden()) all += u'\n' + numbers_->text();
    return all;
}

}  // namespace normscope::widgets
