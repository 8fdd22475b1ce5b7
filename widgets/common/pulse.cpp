// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/pulse.h"

#include <QPainter>
#include <QStyle>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kPulseSide = 76, kRings = 3, kRunning = 1200, kFrame = 40, kStill = 200;  // px, ms
constexpr double kInner = 14;                                                           // px, the first ring

}  // namespace

Pulse::Pulse(QWidget* window) : QWidget(window) {
    setObjectName(QStringLiteral("storyPulse"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    resize(kPulseSide, kPulseSide);
    hide();
    connect(&timer_, &QTimer::timeout, this, &Pulse::follow);
}

void Pulse::show(QWidget* target, std::function<QPointF()> centre) {
    target_ = target;
    centre_ = std::move(centre);
    since_.start();
    if (target)
        timer_.start(kFrame);
    else
        timer_.stop();
    follow();
}

void Pulse::follow() {
    if (!target_ || !target_->isVisible()) return hide();
    if (since_.elapsed() > kRunning) timer_.setInterval(kStill);  // the target may still move
    const QPointF at = target_->mapTo(window(), centre_());
    move((at - QPointF(kPulseSide / 2.0, kPulseSide / 2.0)).toPoint());
    raise();
    QWidget::show();
    update();
}

void Pulse::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor ink = palette().color(QPalette::Highlight);
    const QPointF middle(kPulseSide / 2.0, kPulseSide / 2.0);
    const double reach = kPulseSide / 2.0 - 2 - kInner;
    // Where the style has no animations the rings do not move.
    const bool moves = style()->styleHint(QStyle::SH_Widget_Animation_Duration) > 0 && since_.isValid() &&
                       since_.elapsed() < kRunning;
    for (int i = 0; i < kRings; ++i) {
        double share = static_cast<double>(i) / kRings;
        if (moves) share = std::fmod(share + static_cast<double>(since_.elapsed()) / kRunning, 1);
        ink.setAlphaF(static_cast<float>(0.8 * (1 - share)));
        painter.setPen(QPen(ink, 2));
        painter.drawEllipse(middle, kInner + share * reach, kInner + share * reach);
    }
}

}  // namespace normscope::widgets
