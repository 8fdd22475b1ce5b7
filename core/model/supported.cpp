// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/supported.h"

#include <string>

#include "core/stack/error.h"

namespace normscope {

namespace {
void require(bool supported, const char* key, const std::string& value, const char* allowed) {
    if (!supported) throw InputError(std::string("stack.") + key, value + " is not available yet", allowed);
}
}  // namespace

void require_supported(const StackSpec& s) {
    require(s.logit_soft_cap == 0, "logit_soft_cap", std::to_string(s.logit_soft_cap), "0");
    require(s.z_loss == 0, "z_loss", std::to_string(s.z_loss), "0");
}

}  // namespace normscope
