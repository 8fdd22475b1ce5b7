// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/notice_strip.h"

#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QPainter>

namespace normscope::widgets {
namespace {

constexpr int kNoticeStripGlyph = 12, kNoticeStripLeft = 24, kNoticeStripRight = 8, kNoticeStripGap = 3;
constexpr qsizetype kMaxFolded = 3;  // lines; a stack of many layers can have a warning for each
constexpr int kMaxHeight = 180;      // expanded: leaves space for the knobs below

}  // namespace

NoticeStrip::NoticeStrip(QWidget* parent) : QAbstractButton(parent) {
    setObjectName(QStringLiteral("noticeStrip"));
    setCheckable(true);  // checked: expanded
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    QFont small = font();
    small.setPixelSize(11);
    setFont(small);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(this, &QAbstractButton::toggled, this, &QWidget::updateGeometry);
    hide();
}

void NoticeStrip::setNotices(const QString& rejection, const QStringList& warnings) {
    if (rejection == rejection_ && warnings == warnings_) return;
    rejection_ = rejection;
    warnings_ = warnings;
    const QString all = lines().join(u'\n');
    setToolTip(all);
    setAccessibleName(rejection_.isEmpty()
                          ? tr("%n warnings about this stack", nullptr, int(warnings_.size()))
                          : tr("This stack is not built"));
    setAccessibleDescription(all);
    setVisible(!all.isEmpty());
    updateGeometry();
    update();
}

QStringList NoticeStrip::lines() const {
    return rejection_.isEmpty() ? warnings_ : QStringList(rejection_) + warnings_;
}

int NoticeStrip::rowHeight(const QString& text, int width) const {
    const QFontMetrics metrics = fontMetrics();
    if (!isChecked()) return metrics.height();
    return metrics
        .boundingRect(QRect(0, 0, width - kNoticeStripLeft - kNoticeStripRight, 10000), Qt::TextWordWrap,
                      text)
        .height();
}

QStringList NoticeStrip::linesFor(int width) const {
    const QStringList all = lines();
    qsizetype most = all.size() > kMaxFolded ? kMaxFolded - 1 : all.size();
    if (isChecked()) {
        most = 0;
        for (int height = kNoticeStripGap; most < all.size(); ++most) {
            height += rowHeight(all[most], width) + kNoticeStripGap;
            if (most > 0 && height > kMaxHeight) break;
        }
    }
    QStringList shown = all.first(most);
    if (most < all.size()) shown << tr("… and %1 more").arg(all.size() - most);
    return shown;
}

int NoticeStrip::heightForWidth(int width) const {
    int height = kNoticeStripGap;
    const QStringList shown = linesFor(width);
    for (const QString& line : shown) height += rowHeight(line, width) + kNoticeStripGap;
    return height;
}

QSize NoticeStrip::sizeHint() const {
    constexpr int kDefaultWidth = 240;
    return {kDefaultWidth, heightForWidth(width() > 0 ? width() : kDefaultWidth)};
}

bool NoticeStrip::event(QEvent* event) {
    if (!keepsSpace(this, event)) return QAbstractButton::event(event);
    event->accept();
    return true;
}

void NoticeStrip::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    int y = kNoticeStripGap;
    const QStringList shown = linesFor(width()), all = lines();
    for (const QString& line : shown) {
        const bool rejected = !rejection_.isEmpty() && line == rejection_;
        const int height = rowHeight(line, width());
        if (all.contains(line))  // the last may be the count of the rest
            paintGlyph(painter, QRectF(8, y + 1, kNoticeStripGlyph, kNoticeStripGlyph),
                       rejected ? Glyph::Cross : Glyph::Bang, rejected ? theme.bad : theme.text);
        painter.setPen(theme.text);
        const QRect text(kNoticeStripLeft, y, width() - kNoticeStripLeft - kNoticeStripRight, height);
        if (isChecked())
            painter.drawText(text, Qt::TextWordWrap, line);
        else
            painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                             fontMetrics().elidedText(line, Qt::ElideRight, text.width()));
        y += height + kNoticeStripGap;
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme.muted, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

}  // namespace normscope::widgets
