// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preflight/preflight.h"

#include <QByteArray>

namespace normscope::widgets {

/// A pre-flight as a PDF of one A4 page: the sections as tables in the left column, four figures in the
/// right. Vector graphics, text as text with its fonts embedded, the recipe as metadata; the same bytes for
/// the same pre-flight. The tables' text is made smaller where they are long, so that nothing is cut. GUI
/// thread, needs a QApplication; throws SystemError where painting fails.
QByteArray preflightPdf(const Preflight& preflight);

}  // namespace normscope::widgets
