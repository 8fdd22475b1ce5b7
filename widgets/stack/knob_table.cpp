// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/knob_table.h"

#include "core/recipe/recipe.h"
#include "core/stack/scheme.h"
#include "widgets/stack/recipe_keys.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using enum KnobScale::Kind;

#define T(text) QT_TRANSLATE_NOOP("KnobTable", text)

const KnobSpec kTable[] = {
    {"stack.scheme", T("Scheme"), T("scheme"),
     T("Where the norms stand.\nx' = N_post(a·x + Δt·b·N_out(f(s·N_in(x))))"), false, false},
    {"stack.depth",
     T("Depth"),
     T("depth"),
     T("Layers N; each is attention, then feed-forward."),
     false,
     false,
     Integer,
     1,
     48,
     false,
     {6, 12, 24}},
    {"stack.d_model",
     T("Width"),
     T("width"),
     T("Width d of the hidden state, a multiple of the heads.\nThe feed-forward width moves with it: d_ff = "
       "4·d."),
     false,
     false,
     LogInteger,
     8,
     1024,
     false,
     {16, 32, 64, 128, 256, 512}},
    {"stack.residual_step",
     T("Δt"),
     T("residual step"),
     T("Residual step: x + Δt·f(x), depth as time ([K] eq. 8).\nSnaps at 0.1, 1/√(2N), 1."),
     true,
     false,
     Log,
     0.01,
     2,
     false,
     {0.1, 1}},
    {"stack.temperature",
     T("τ"),
     T("temperature"),
     T("Softmax temperature: attention scores are q·k/(τ·√d_h).\nSmall τ commits, large τ averages."),
     true,
     false,
     Log,
     0.05,
     20,
     false,
     {0.25, 1, 4}},
    {"optimizer.lr",
     T("Learning rate"),
     T("learning rate"),
     T("Peak learning rate η of AdamW."),
     true,
     false,
     Log,
     1e-5,
     0.1,
     true,
     {1e-4, 1e-3, 3e-3, 1e-2}},
    {"seed",
     T("Seed"),
     T("seed"),
     T("Of the initial weights and the batches. Runs with one seed see the same text."),
     false,
     false,
     Integer,
     0,
     100,
     false,
     {42}},

    {"stack.heads", T("Heads"), T("attention heads"),
     T("Attention heads H; they divide the width: d_h = d/H."), false, true, LogInteger, 1, 64},
    {"stack.context",
     T("Context"),
     T("context length"),
     T("Tokens n of a sequence."),
     false,
     true,
     LogInteger,
     8,
     1024,
     false,
     {32, 64, 128, 256, 512}},
    {"stack.norm.eps",
     T("ε"),
     T("norm epsilon"),
     T("Added to the variance inside a norm: x̂ = (x − μ)/√(σ² + ε)."),
     true,
     true,
     Log,
     1e-12,
     1,
     true,
     {1e-8, 1e-6, 1e-5, 1e-3}},
    {"stack.init.rule", T("Init"), T("initialisation"),
     T("How the weights are drawn.\nlab: std 1/√d for every matrix; gpt2: std 0.02, outputs / √(2N)."), false,
     true},
    {"stack.final_norm", T("Final norm"), T("final norm"),
     T("The norm before the head. Auto: on, except for GPT-2 blocks under post, deepnorm and none."), false,
     true},
    {"stack.gpas.enabled", T("GPAS"), T("gradient-preserving activation scaling"),
     T("Learnt gates that scale activations and leave gradients: x − act(g)·sg(x) ([G] §3)."), false, true},
    {"schedule.warmup", T("Warm-up"), T("warm-up steps"),
     T("Steps in which the learning rate rises linearly to η."), false, true, Integer, 0, 200},
    {"optimizer.weight_decay",
     T("Decay"),
     T("weight decay"),
     T("Decoupled weight decay λ: w ← w − η·λ·w."),
     true,
     true,
     Log,
     1e-3,
     1,
     true,
     {0.01, 0.1}},
    {"optimizer.clip",
     T("Clip"),
     T("gradient clip"),
     T("g ← g·min(1, clip/‖g‖) over all gradients; 0 = off."),
     true,
     true,
     Log,
     0.01,
     100,
     true,
     {0.1, 1, 10}},
    {"batch",
     T("Batch"),
     T("batch size"),
     T("Sequences of a step."),
     false,
     true,
     LogInteger,
     1,
     128,
     false,
     {4, 8, 16, 32, 64}},
    {"steps",
     T("Steps"),
     T("training steps"),
     T("Steps of the run; the schedule ends with them."),
     false,
     true,
     LogInteger,
     10,
     10000,
     false,
     {100, 200, 500, 1000, 2000, 5000}},
    {"precision", T("Precision"), T("precision"), T("The arithmetic of training."), true, true},
    {"data.source", T("Data"), T("data source"), T("What is learnt: generated text, or the bytes of a file."),
     false, true},
    {"data.path", T("Text file"), T("text file"), T("The file whose bytes are the text."), false, true},
};

struct Title {
    const char *key, *word, *title;
};
constexpr Title kTitles[] = {
    {"precision", "fp32", "FP32"},
    {"precision", "tf32", "TF32"},
    {"precision", "bf16", "BF16"},
    {"precision", "fp16", "FP16"},
    {"precision", "fp64", "FP64"},
    {"data.source", "markov", T("Markov")},
    {"data.source", "copy", T("Copy")},
    {"data.source", "induction", T("Induction")},
    {"data.source", "text", T("Text file")},
    {"stack.init.rule", "lab", T("Lab (1/√d)")},
    {"stack.init.rule", "gpt2", "GPT-2"},
    {"stack.init.rule", "plain", T("Plain")},
    {"stack.init.rule", "xavier", "Xavier"},
    {"stack.init.rule", "deepnorm", "DeepNorm"},
    {"stack.init.rule", "path_length", T("Path length")},
    {"stack.final_norm", "auto", T("Auto")},
    {"stack.final_norm", "on", T("On")},
    {"stack.final_norm", "off", T("Off")},
    {"stack.gpas.enabled", "true", T("On")},
    {"stack.gpas.enabled", "false", T("Off")},
};

#undef T

/// Head counts that the width allows, up to the slider's end; rotary positions need an even head width.
std::vector<double> headCounts(const StackSpec& stack) {
    std::vector<double> counts;
    const int pairs = stack.position == Position::Rope ? 2 : 1;
    for (int heads = 1; heads <= std::max(64, stack.heads); ++heads)
        if (stack.d_model % (heads * pairs) == 0) counts.push_back(heads);
    return counts;
}

}  // namespace

std::span<const KnobSpec> knobTable() {
    return kTable;
}

KnobScale knobScale(const KnobSpec& spec, const Recipe& recipe) {
    const QString key = QString::fromUtf8(spec.key);
    const KeyDomain domain = recipeDomains().value(key);
    KnobScale scale;
    scale.kind = spec.scale;
    scale.low = spec.low;
    scale.high = spec.high;
    scale.zero = spec.zero;
    scale.detents = spec.detents;
    scale.allowed_low = domain.low;
    scale.allowed_high = domain.high;
    scale.low_open = domain.low_open;

    const StackSpec& stack = recipe.stack;
    if (key == u"stack.residual_step") {
        scale.detents.push_back(1 / std::sqrt(2.0 * stack.depth));
        std::sort(scale.detents.begin(), scale.detents.end());
    } else if (key == u"stack.d_model") {
        scale.multiple = stack.heads * (stack.position == Position::Rope ? 2 : 1);
        std::erase_if(scale.detents, [&](double d) { return std::fmod(d, scale.multiple) != 0; });
    } else if (key == u"stack.heads") {
        scale.detents = headCounts(stack);
        scale.detents_only = !scale.detents.empty();
    } else if (key == u"schedule.warmup") {
        scale.high = std::max(1, recipe.train.steps);
    }
    return scale;
}

QString choiceTitle(const QString& key, const QString& word) {
    if (key == u"stack.scheme") {
        const auto words = words_of<Scheme>();
        for (std::size_t i = 0; i < words.size(); ++i)
            if (word == QLatin1String(words[i]))
                return QString::fromUtf8(scheme_row(static_cast<Scheme>(i)).title);
    }
    for (const auto& title : kTitles)
        if (key == QLatin1String(title.key) && word == QLatin1String(title.word))
            return QCoreApplication::translate("KnobTable", title.title);
    return word;
}

}  // namespace normscope::widgets
