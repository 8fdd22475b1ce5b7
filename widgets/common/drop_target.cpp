// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/drop_target.h"

namespace normscope::widgets {

DropTarget::DropTarget(QWidget* window) : QLabel(window) {
    setObjectName(QStringLiteral("dropTarget"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    setForegroundRole(QPalette::ToolTipText);
    setFrameShape(QFrame::Box);
    setMargin(10);
    hide();
}

void DropTarget::showIn(const QRect& free, const QString& text) {
    setText(text);
    adjustSize();
    move(free.center() - rect().center());
    raise();
    show();
}

}  // namespace normscope::widgets
