// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>

namespace normscope::app {

namespace {
constexpr int kShownMs = 8000;
}

Banner::Banner(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), hide_later_(new QTimer(this)) {
    setObjectName(QStringLiteral("banner"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    text_->setObjectName(QStringLiteral("bannerText"));
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setTextFormat(Qt::PlainText);
    row_ = new QHBoxLayout(this);
    row_->setContentsMargins(10, 4, 6, 4);
    row_->addWidget(text_, 1);
    hide_later_->setSingleShot(true);
    hide_later_->setInterval(kShownMs);
    connect(hide_later_, &QTimer::timeout, this, &QWidget::hide);
    hide();
}

void Banner::tell(const QString& message, std::vector<Offer> offers) {
    for (QWidget* button : buttons_) {
        button->hide();
        button->deleteLater();
    }
    buttons_.clear();
    text_->setText(message);
    const bool passing = offers.empty();
    offers.emplace_back(tr("Dismiss"), [] {});
    for (auto& [label, action] : offers) {
        auto* button = new QPushButton(label, this);
        connect(button, &QPushButton::clicked, this, [this, act = std::move(action)] {
            hide();
            act();
        });
        row_->addWidget(button);
        button->show();  // now: a layout shows it in a later event
        buttons_.push_back(button);
    }
    show();
    if (passing)
        hide_later_->start();
    else
        hide_later_->stop();
}

QString Banner::message() const {
    return isVisible() ? text_->text() : QString();
}

}  // namespace normscope::app
