// SPDX-License-Identifier: GPL-3.0-or-later
// Display texts of the words of a recipe and of the folds.
#include "core/stack/scheme.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/stack/sublayer_formula.h"

#include <QCoreApplication>
#include <optional>

namespace normscope::widgets {
namespace {

#define T(text) QT_TRANSLATE_NOOP("KnobTable", text)

/// Only words that need a display text ("gelu_tanh"); the others are capitalised.
struct Title {
    const char *key, *word, *title;
};
constexpr Title kTitles[] = {
    {"stack.lns_form", "factor", T("Factor 1/√ℓ")},
    {"stack.lns_form", "gamma", T("Gain starts there")},
    {"stack.block", "gpt2", "GPT-2"},
    {"stack.block", "llama", "LLaMA"},
    {"stack.activation", "gelu_tanh", "GELU (tanh)"},
    {"stack.activation", "gelu_erf", "GELU (erf)"},
    {"stack.activation", "relu", "ReLU"},
    {"stack.activation", "silu", "SiLU"},
    {"stack.activation", "swiglu", "SwiGLU"},
    {"stack.position", "rope", "RoPE"},
    {"stack.qk_norm", "head", T("Per head")},
    {"stack.attention_bias", "qkv", T("Q, K, V")},
    {"stack.norm.kind", "layernorm", "LayerNorm"},
    {"stack.norm.kind", "rmsnorm", "RMSNorm"},
    {"stack.branch_scale", "scalar", T("One number")},
    {"stack.branch_scale", "channel", T("Per channel")},
    {"stack.init.rule", "lab", T("Lab (1/√d)")},
    {"stack.init.rule", "gpt2", "GPT-2"},
    {"stack.init.rule", "deepnorm", "DeepNorm"},
    {"stack.init.rule", "path_length", T("Path length")},
    {"stack.gpas.activation", "silu", "SiLU"},
    {"stack.gpas.activation", "relu", "ReLU"},
    {"stack.gpas.activation", "leaky_relu", "Leaky ReLU"},
    {"stack.gpas.activation", "silu8", "SiLU ×8"},
    {"stack.gpas.site", "norm", T("After norm")},
    {"optimizer.kind", "adamw", "AdamW"},
    {"optimizer.kind", "sgd", "SGD"},
    {"precision", "fp32", "FP32"},
    {"precision", "tf32", "TF32"},
    {"precision", "bf16", "BF16"},
    {"precision", "fp16", "FP16"},
    {"precision", "fp64", "FP64"},
    {"precision_policy", "pure", T("Everything")},
    {"precision_policy", "autocast", T("As in autocast")},
    {"data.source", "text", T("Text file")},
    {"data.source", "images", T("Shapes")},
    {"data.source", "cifar10", "CIFAR-10"},
    {"data.source", "tokens", T("Token files")},
    {"data.source", "external", T("Another program")},
};

#undef T

std::optional<Scheme> schemeOf(KeyRef key, const QString& word) {
    if (key->name != "stack.scheme") return std::nullopt;
    const auto words = words_of<Scheme>();
    for (std::size_t i = 0; i < words.size(); ++i)
        if (word == QLatin1String(words[i])) return static_cast<Scheme>(i);
    return std::nullopt;
}

}  // namespace

QString choiceTitle(KeyRef key, const QString& word) {
    if (const auto scheme = schemeOf(key, word)) return QString::fromUtf8(scheme_row(*scheme).title);
    for (const auto& title : kTitles)
        if (key->name == title.key && word == QLatin1String(title.word))
            return QCoreApplication::translate("KnobTable", title.title);
    if (word == u"true") return QCoreApplication::translate("KnobTable", "On");
    if (word == u"false") return QCoreApplication::translate("KnobTable", "Off");
    return word.left(1).toUpper() + word.mid(1);
}

bool sameNorms(Scheme a, Scheme b) {
    if (a == b) return true;
    const auto special = [](Scheme s) { return s == Scheme::Custom || s == Scheme::Mix || s == Scheme::Lns; };
    if (special(a) || special(b)) return false;
    const auto same = [](const NormPlaces& x, const NormPlaces& y) {
        return x.in == y.in && x.out == y.out && x.post == y.post && x.v == y.v;
    };
    const SchemeRow &p = scheme_row(a), &q = scheme_row(b);
    return same(p.attn, q.attn) && same(p.ffn, q.ffn) && p.shortcut == q.shortcut && p.s_in == q.s_in &&
           p.final_norm == q.final_norm && p.residual == q.residual;
}

QString choiceTip(KeyRef key, const QString& word) {
    const auto scheme = schemeOf(key, word);
    if (!scheme) return {};
    const auto lineOf = [&](int layer) {
        StackSpec spec;
        spec.scheme = *scheme;
        return sublayerFormula(spec, layer, Sublayer::FeedForward).section(u'\n', 0, 0);
    };
    QString text = lineOf(0);
    if (const QString last = lineOf(StackSpec().depth - 1); last != text)
        text += QCoreApplication::translate("KnobTable", " in the first layers, %1 in the last").arg(last);
    text = QStringLiteral("%1   %2").arg(text, QString::fromUtf8(scheme_row(*scheme).source));
    for (std::size_t i = 0; i < words_of<Scheme>().size(); ++i)
        if (const auto other = static_cast<Scheme>(i); other != *scheme && sameNorms(other, *scheme))
            text += u'\n' + QCoreApplication::translate("KnobTable", "The same norms as %1")
                                .arg(QString::fromUtf8(scheme_row(other).title));
    return text;
}

QString sectionTitle(KnobSection section) {
    constexpr const char* kSections[] = {"",
                                         QT_TRANSLATE_NOOP("KnobTable", "Sizes and block"),
                                         QT_TRANSLATE_NOOP("KnobTable", "Norms and residual"),
                                         QT_TRANSLATE_NOOP("KnobTable", "Initialisation"),
                                         QT_TRANSLATE_NOOP("KnobTable", "Gates"),
                                         QT_TRANSLATE_NOOP("KnobTable", "Optimiser and schedule"),
                                         QT_TRANSLATE_NOOP("KnobTable", "Data and precision")};
    static_assert(std::size(kSections) == kKnobSections);
    if (section == KnobSection::InSight) return {};
    return QCoreApplication::translate("KnobTable", kSections[static_cast<int>(section)]);
}

}  // namespace normscope::widgets
