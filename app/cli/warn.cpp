// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/warn.h"

#include <iostream>

namespace normscope::app {

void Warner::show(const std::vector<std::string>& lines) {
    std::cout.flush();
    for (const std::string& line : lines)
        if (shown_.insert(line).second) std::cerr << "warning: " + line + "\n";
}

}  // namespace normscope::app
