// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/drawer.h"

#include <QEvent>
#include <QKeyEvent>
#include <algorithm>

namespace normscope::widgets {

Drawer::Drawer(QWidget* over, int width, QWidget* parent) : QFrame(parent), over_(over), width_(width) {
    setFrameShape(QFrame::Box);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    over_->installEventFilter(this);
    hide();
}

void Drawer::appear() {
    for (auto* other : parentWidget()->findChildren<Drawer*>(QString(), Qt::FindDirectChildrenOnly))
        if (other != this) other->hide();
    place();
    show();
    raise();
}

void Drawer::place() {
    const QRect area(over_->mapTo(parentWidget(), QPoint(0, 0)), over_->size());
    const int width = std::min(width_, area.width());
    setGeometry(area.right() + 1 - width, area.top(), width, area.height());
}

bool Drawer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == over_ && isVisible() && (event->type() == QEvent::Resize || event->type() == QEvent::Move))
        place();
    return QFrame::eventFilter(watched, event);
}

void Drawer::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        hide();
    else
        QFrame::keyPressEvent(event);
}

void Drawer::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    Q_EMIT shown();
}

void Drawer::setVisible(bool visible) {
    if (visible != isVisible()) visible ? focus_.showing(*this) : focus_.hiding(*this);
    QFrame::setVisible(visible);
}

void Drawer::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    Q_EMIT hidden();
}

}  // namespace normscope::widgets
