// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <algorithm>

namespace normscope::widgets {

namespace {
constexpr int kShownMs = 6000;
constexpr int kBannerMaxWidth = 720, kMinText = 120, kBannerMargin = 16;
}  // namespace

Banner::Banner(QWidget* over, QWidget* parent)
    : QFrame(parent), over_(over), text_(new QLabel(this)), hide_later_(new QTimer(this)) {
    setObjectName(QStringLiteral("banner"));
    setFrameShape(QFrame::Box);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    over_->installEventFilter(this);
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

void Banner::showMessage(const QString& message, std::vector<Offer> offers) {
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
    place();
    show();
    raise();
    if (passing)
        hide_later_->start();
    else
        hide_later_->stop();
}

bool Banner::eventFilter(QObject* watched, QEvent* event) {
    if (watched == over_ && isVisible() && (event->type() == QEvent::Resize || event->type() == QEvent::Move))
        place();
    return QFrame::eventFilter(watched, event);
}

/// At the lower end of the area, as wide as its text needs.
void Banner::place() {
    const QRect area(over_->mapTo(parentWidget(), QPoint(0, 0)), over_->size());
    const int most = std::max(1, std::min(kBannerMaxWidth, area.width() - 2 * kBannerMargin));
    // The buttons are next to the text, which is on one line where it fits.
    const QMargins margins = layout()->contentsMargins();
    int others = margins.left() + margins.right() + 2 * frameWidth();
    for (const QWidget* button : buttons_) others += button->sizeHint().width() + layout()->spacing();
    const int line = text_->fontMetrics().size(0, text_->text()).width() + 8;
    const int width = std::min(most, std::max(line, kMinText) + others);
    layout()->activate();
    const int wanted =
        layout()->hasHeightForWidth() ? layout()->heightForWidth(width) : layout()->sizeHint().height();
    const int height = std::min(wanted, area.height());
    setGeometry(area.left() + (area.width() - width) / 2, area.bottom() - kBannerMargin - height, width,
                height);
}

QString Banner::message() const {
    return isVisible() ? text_->text() : QString();
}

}  // namespace normscope::widgets
