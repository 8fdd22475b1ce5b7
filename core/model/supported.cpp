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
    require(s.block == Block::Gpt2, "block", word_of(s.block), "gpt2");
    require(s.activation != Activation::SwiGlu, "activation", word_of(s.activation), "gelu_tanh, gelu_erf, relu, silu");
    require(s.position != Position::Rope, "position", word_of(s.position), "learned, none");
    require(s.kv_heads == s.heads, "kv_heads", std::to_string(s.kv_heads), "the number of heads");
    require(s.layout == Layout::Serial, "layout", word_of(s.layout), "serial");
    require(s.scheme != Scheme::Lns || s.lns_form == LnsForm::Factor, "lns_form", word_of(s.lns_form), "factor");
    require(s.qk_norm == QkNorm::Off, "qk_norm", word_of(s.qk_norm), "off");
    require(!s.embedding_norm, "embedding_norm", "true", "false");
    require(s.branch_scale == BranchScale::None, "branch_scale", word_of(s.branch_scale), "none");
    const GateSite site = s.gpas.site;
    require(site == GateSite::Auto || site == GateSite::Output || site == GateSite::Shortcut, "gpas.site",
            word_of(site), "auto, output, shortcut");
    require(s.gpas.clip == 0, "gpas.clip", std::to_string(s.gpas.clip), "0");
    require(s.init.rule == InitRule::Lab || s.init.rule == InitRule::Gpt2 || s.init.rule == InitRule::Plain, "init.rule",
            word_of(s.init.rule), "lab, gpt2, plain");
}

}  // namespace normscope
