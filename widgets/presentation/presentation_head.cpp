// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/presentation/presentation_head.h"

#include "widgets/presentation/presentation.h"

#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kHeadline = 40, kPresentationHeadNumber = 112;  // px

}  // namespace

PresentationHead::PresentationHead(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("presentationHead"));
    const auto label = [this](const char* name, int px, bool bold) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        QFont type = made->font();
        type.setPixelSize(px);
        type.setBold(bold);
        made->setFont(type);
        return made;
    };
    headline_ = label("presentationHeadline", kHeadline, true);
    headline_->setWordWrap(true);
    headline_->setTextFormat(Qt::PlainText);
    headline_->setAccessibleName(tr("Headline"));
    headline_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    of_ = label("presentationOf", Presentation::kText, false);
    of_->setForegroundRole(QPalette::PlaceholderText);
    of_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    number_ = label("presentationStep", kPresentationHeadNumber, true);
    number_->setAccessibleName(tr("Step shown"));
    number_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    box_ = new QWidget(this);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(Presentation::kMargin, 4, Presentation::kMargin, 4);
    row->setSpacing(20);
    row->addWidget(headline_, 1);
    row->addWidget(box_);
    auto* pair = new QHBoxLayout(box_);
    pair->setContentsMargins(0, 0, 0, 0);
    pair->setSpacing(16);
    pair->addStretch(1);
    pair->addWidget(of_);
    pair->addWidget(number_);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    // Two lines of the headline, or the digits without what is below the base line.
    const int lines = 2 * QFontMetrics(headline_->font()).lineSpacing();
    setFixedHeight(std::max(lines, QFontMetrics(number_->font()).capHeight()) + 10);
}

void PresentationHead::setHeadline(const QString& text) {
    headline_->setText(text);
}

void PresentationHead::setStep(qint64 step, qint64 planned) {
    number_->setText(QString::number(step));
    of_->setText(tr("step\nof %1").arg(planned + 1));  // steps are counted from 0
    const auto digits = QString::number(std::max(step, planned)).size();
    box_->setFixedWidth(QFontMetrics(number_->font()).horizontalAdvance(QString(digits, QLatin1Char('0'))) +
                        of_->sizeHint().width() + 24);
}

}  // namespace normscope::widgets
