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
    require(s.qk_norm == QkNorm::Off, "qk_norm", word_of(s.qk_norm), "off");
    require(!s.embedding_norm, "embedding_norm", "true", "false");
    require(s.logit_soft_cap == 0, "logit_soft_cap", std::to_string(s.logit_soft_cap), "0");
    require(s.z_loss == 0, "z_loss", std::to_string(s.z_loss), "0");
}

}  // namespace normscope
