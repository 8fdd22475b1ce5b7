// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preflight/preflight.h"

#include <QByteArray>

namespace normscope::widgets {

/// A pre-flight as one HTML file (UTF-8, also well-formed XML): tables, the figures as inline SVG, light and
/// dark after the reader's preference, the recipe at the end; no script, no other file. The same bytes for
/// the same pre-flight. GUI thread, needs a QApplication; throws as renderFigure().
QByteArray preflightHtml(const Preflight& preflight);

}  // namespace normscope::widgets
