// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/group_key.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kGroupKeySmall = 11, kGroupKeyText = 12, kGroupKeyLine = 20;  // px
constexpr int kSwatch = 22;  // the line and its band, with the gap after it

QFont fontOf(const QFont& font, qsizetype line) {
    QFont made = sized(font, line == 1 ? kGroupKeyText : kGroupKeySmall);
    if (line == 1) made.setWeight(QFont::DemiBold);
    return made;
}

}  // namespace

GroupKey::GroupKey(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("groupKey"));
    setAccessibleName(tr("Groups of runs"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
}

void GroupKey::setLines(const QStringList& lines) {
    if (lines == lines_) return;
    lines_ = lines;
    setAccessibleDescription(lines_.join(QStringLiteral(". ")));
    updateGeometry();
    update();
}

QSize GroupKey::sizeHint() const {
    int width = 0;
    for (qsizetype i = 0; i < lines_.size(); ++i)
        width = std::max(
            width, QFontMetrics(fontOf(font(), i)).horizontalAdvance(lines_[i]) + (i == 2 ? kSwatch : 0));
    return {width + 2, 3 * kGroupKeyLine};
}

void GroupKey::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    const int top = (height() - 3 * kGroupKeyLine) / 2;
    for (qsizetype i = 0; i < lines_.size(); ++i) {
        painter.setFont(fontOf(font(), i));
        painter.setPen(i == 1 ? theme.text : theme.muted);
        const int left = i == 2 ? kSwatch : 0;
        painter.drawText(
            QRect(left, top + static_cast<int>(i) * kGroupKeyLine, width() - left, kGroupKeyLine),
            Qt::AlignLeft | Qt::AlignVCenter, lines_[i]);
    }
    const QRect swatch(0, top + 2 * kGroupKeyLine + 5, kSwatch - 6, kGroupKeyLine - 10);
    painter.fillRect(swatch, theme.neutral);
    painter.fillRect(swatch.left(), swatch.center().y(), swatch.width(), 2, theme.text);
}

}  // namespace normscope::widgets
