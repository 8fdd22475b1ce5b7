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
    require(s.layout == Layout::Serial, "layout", word_of(s.layout), "serial");
    require(s.scheme != Scheme::Lns || s.lns_form == LnsForm::Factor, "lns_form", word_of(s.lns_form), "factor");
    require(s.branch_scale == BranchScale::None, "branch_scale", word_of(s.branch_scale), "none");
    require(s.logit_soft_cap == 0, "logit_soft_cap", std::to_string(s.logit_soft_cap), "0");
    require(s.z_loss == 0, "z_loss", std::to_string(s.z_loss), "0");
    const GateSite site = s.gpas.site;
    require(site == GateSite::Auto || site == GateSite::Output || site == GateSite::Shortcut, "gpas.site",
            word_of(site), "auto, output, shortcut");
    require(s.gpas.clip == 0, "gpas.clip", std::to_string(s.gpas.clip), "0");
    require(s.init.rule == InitRule::Lab || s.init.rule == InitRule::Gpt2 || s.init.rule == InitRule::Plain, "init.rule",
            word_of(s.init.rule), "lab, gpt2, plain");
}

}  // namespace normscope
