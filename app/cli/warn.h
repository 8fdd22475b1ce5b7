// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>
#include <vector>

namespace normscope::app {

/// Prints the warnings about a stack on stderr ("warning: …"), each line once.
class Warner {
  public:
    void show(const std::vector<std::string>& lines);

  private:
    std::set<std::string> shown_;
};

}  // namespace normscope::app
