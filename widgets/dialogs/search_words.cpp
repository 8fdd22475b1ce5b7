// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/search_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

namespace normscope::widgets {

namespace {

struct Synonym {
    const char* term;      ///< in small letters, as people type it
    const char* meanings;  ///< words of the window's entries, separated by |
};

constexpr Synonym kSynonyms[] = {
    {"lr", "learning rate"},
    {"rate", "learning rate"},
    {"warmup", "warm-up"},
    {"warm up", "warm-up"},
    {"theta", "θ"},
    {"tau", "τ"},
    {"softmax", "temperature|softmax|θ"},
    {"sensitivity", "θ"},
    {"dt", "Δt"},
    {"delta t", "Δt"},
    {"residual scale", "Δt"},
    {"step size", "Δt|learning rate"},
    {"eps", "ε"},
    {"epsilon", "ε"},
    {"lambda", "λ"},
    {"layerscale", "branch scale"},
    {"layers", "depth|layers"},
    {"number of layers", "depth"},
    {"n_layer", "depth"},
    {"hidden size", "width"},
    {"d_model", "width"},
    {"model dimension", "width"},
    {"placement", "scheme"},
    {"norm placement", "scheme"},
    {"prenorm", "pre-ln"},
    {"pre-norm", "pre-ln"},
    {"preln", "pre-ln"},
    {"postnorm", "post-ln"},
    {"post-norm", "post-ln"},
    {"postln", "post-ln"},
    {"peri", "peri-ln"},
    {"layernorm", "kind of norm|norm"},
    {"rmsnorm", "kind of norm|norm"},
    {"normalization", "norm"},
    {"ffn", "FFN|feed-forward"},
    {"mlp", "FFN|feed-forward"},
    {"hidden units", "feed-forward width"},
    {"n_head", "heads"},
    {"gqa", "KV heads"},
    {"grouped query", "KV heads"},
    {"multi-query", "KV heads"},
    {"seq len", "context"},
    {"sequence length", "context"},
    {"block size", "context"},
    {"rope", "RoPE|positions"},
    {"rotary", "RoPE|positions"},
    {"positional encoding", "positions"},
    {"gelu", "activation"},
    {"swiglu", "activation"},
    {"relu", "activation"},
    {"optimizer", "optimiser"},
    {"adam", "optimiser"},
    {"adamw", "optimiser"},
    {"sgd", "optimiser"},
    {"muon", "optimiser"},
    {"initialization", "initialisation"},
    {"init", "initialisation|init"},
    {"std", "standard deviation"},
    {"regularization", "weight decay"},
    {"wd", "weight decay"},
    {"l2", "weight decay"},
    {"grad clip", "gradient clip"},
    {"clipping", "clip"},
    {"batchsize", "batch"},
    {"iterations", "steps"},
    {"epochs", "steps"},
    {"bf16", "precision"},
    {"fp16", "precision"},
    {"fp32", "precision"},
    {"dtype", "precision"},
    {"mixed precision", "precision|policy"},
    {"amp", "precision policy|precision"},
    {"vit", "vision transformer"},
    {"tiny-vit", "tiny vision transformer"},
    {"intervention", "raise ε"},
    {"interventions", "raise ε"},
    {"autocast", "precision policy|precision"},
    {"random seed", "seed"},
    {"rng", "seed"},
    {"dataset", "data source"},
    {"corpus", "data source"},
    {"cifar", "data source|files"},
    {"continue", "resume"},
    {"cause", "why"},
    {"diagnose", "why"},
    {"diagnosis", "why"},
    {"diverged", "why"},
    {"failed", "why|remedies"},
    {"remedy", "remedies|remedy"},
    {"fix", "remedies|remedy"},
    {"what to try", "remedies|remedy"},
    {"branch", "fork|branch"},
    {"start", "train"},
    {"run", "train"},
    {"gpu", "device"},
    {"cuda", "device"},
    {"vanishing", "gradients"},
    {"exploding", "gradients|growth"},
    {"grad norm", "gradients|gradient"},
    {"gradient flow", "gradients"},
    {"activations", "growth"},
    {"hidden state", "growth"},
    {"norm growth", "growth"},
    {"singular values", "spectra"},
    {"spectrum", "spectra"},
    {"eigenvalues", "spectra"},
    {"jacobians", "jacobian"},
    {"null space", "norm sites"},
    {"kernel", "norm sites"},
    {"rank collapse", "tokens"},
    {"oversmoothing", "tokens"},
    {"attention map", "panel: attention"},
    {"attention sink", "panel: attention"},
    {"entropy", "panel: attention"},
    {"quantization", "low-precision error|ranges"},
    {"mismatch", "low-precision error"},
    {"rounding", "rounded|low-precision error"},
    {"overflow", "ranges"},
    {"underflow", "ranges"},
    {"learning curve", "loss"},
    {"perplexity", "loss"},
    {"validation loss", "loss"},
    {"gating", "gate"},
    {"hyperparameter search", "new sweep|sweep"},
    {"grid search", "new sweep|sweep"},
    {"screenshot", "copy figure|export"},
    {"save image", "export"},
    {"pdf", "export"},
    {"csv", "CSV"},
    {"dark mode", "dark theme"},
    {"night", "dark theme"},
    {"fullscreen", "presentation|maximise"},
    {"slides", "presentation"},
    {"checkpoint", "import a model|resume"},
    {"huggingface", "import a model"},
    {"shortcuts", "commands and their keys"},
    {"papers", "claims|gallery"},
    {"theorem", "claims"},
    {"breakpoint", "watchpoints"},
    {"alert", "watchpoints"},
    {"nan", "watchpoints|ranges"},
};

/// Terms of the field that this laboratory does not have.
constexpr const char* kAbsent[] = {
    "dropout",
    "batchnorm",
    "batch norm",
    "mixture of experts",
    "moe",
    "lora",
    "flash attention",
    "alibi",
    "mamba",
    "early stopping",
    "data parallel",
    "ddp",
    "fsdp",
    "cross attention",
    "encoder decoder",
    "label smoothing",
    "gradient checkpointing",
    "tokenizer",
    "kv cache",
    "beam search",
};

QStringList listedMeanings(const QString& term) {
    for (const Synonym& synonym : kSynonyms)
        if (term.compare(QLatin1String(synonym.term), Qt::CaseInsensitive) == 0)
            return QString::fromUtf8(synonym.meanings).split(u'|');
    return {};
}

}  // namespace

QStringList meaningsOf(const QString& word) {
    return QStringList(word) + listedMeanings(word);
}

std::vector<QStringList> searchWords(const QString& typed) {
    const QStringList words = typed.simplified().split(u' ', Qt::SkipEmptyParts);
    if (words.size() > 1)
        if (const QString whole = words.join(u' '); !listedMeanings(whole).isEmpty())
            return {meaningsOf(whole)};
    std::vector<QStringList> found;
    for (const QString& word : words) found.push_back(meaningsOf(word));
    return found;
}

QString notInThisLab(const QString& typed) {
    const QString term = typed.simplified().toLower();
    const bool absent = std::any_of(std::begin(kAbsent), std::end(kAbsent),
                                    [&](const char* other) { return term == QLatin1String(other); });
    return absent ? QCoreApplication::translate("CommandSearch", "%1 is not in this lab")
                        .arg(term.left(1).toUpper() + term.mid(1))
                  : QString();
}

}  // namespace normscope::widgets
