// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAccessible>

class QWidget;

namespace normscope::widgets {

/// What assistive technology calls a widget that paints itself; without it, it is no more than a rectangle.
/// Of widgets without a value of their own: name and text summary are those of the widget. To be called
/// before the widget is shown. Interface thread.
void setAccessibleRole(QWidget* widget, QAccessible::Role role);

}  // namespace normscope::widgets
