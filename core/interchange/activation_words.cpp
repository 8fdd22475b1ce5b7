// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/activation_words.h"

namespace normscope {

namespace {

struct ActivationWord {
    const char* word;
    Activation activation;
};
// The first of an activation is the one that is written.
constexpr ActivationWord kActivationWords[] = {
    {"gelu_new", Activation::GeluTanh}, {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::GeluErf},      {"relu", Activation::Relu},
    {"silu", Activation::Silu},         {"swish", Activation::Silu}};

}  // namespace

Activation known_activation(ConfigReader& c, const char* key, const char* otherwise) {
    const std::string word = c.text(key, otherwise);
    for (const auto& [known, activation] : kActivationWords)
        if (word == known) return activation;
    c.reject(key, "gelu_new, gelu_pytorch_tanh, gelu, relu, silu, swish");
}

const char* activation_word(Activation activation) {
    for (const auto& [word, known] : kActivationWords)
        if (known == activation) return word;
    return "";
}

}  // namespace normscope
