// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/accessibility/accessible_role.h"

#include <QAccessibleWidget>
#include <QVariant>
#include <QWidget>

namespace normscope::widgets {

namespace {

constexpr const char* kRole = "accessibleRole";

QAccessibleInterface* accessOf(const QString&, QObject* object) {
    auto* widget = qobject_cast<QWidget*>(object);
    const QVariant role = widget ? widget->property(kRole) : QVariant();
    return role.isValid() ? new QAccessibleWidget(widget, static_cast<QAccessible::Role>(role.toInt()))
                          : nullptr;
}

}  // namespace

void setAccessibleRole(QWidget* widget, QAccessible::Role role) {
    [[maybe_unused]] static const bool installed = (QAccessible::installFactory(accessOf), true);
    widget->setProperty(kRole, static_cast<int>(role));
}

}  // namespace normscope::widgets
