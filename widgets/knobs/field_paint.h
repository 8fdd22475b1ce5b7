// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

class QPainter;
class QWidget;

namespace normscope::widgets {

/// The width of a run's line sample inside a field.
inline constexpr int kSampleWidth = 12;

/// The rounded box of a field or a choice: filled grey, or white with a hairline where the text is the value
/// of one run or a choice; with an ink outline where the widget has the focus.
void paintField(QPainter& painter, const QWidget& field, bool outlined);

/// A run's line, with its hue and dash: horizontal, kSampleWidth long, from the left end of `rect`.
void paintLineSample(QPainter& painter, const QRectF& rect, const QWidget& field, int run);

}  // namespace normscope::widgets
