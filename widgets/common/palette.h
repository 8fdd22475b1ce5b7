// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPalette>

namespace normscope::widgets {

/// The widgets' colours for the plots' light and dark themes.
QPalette windowPalette(bool dark);

}  // namespace normscope::widgets
