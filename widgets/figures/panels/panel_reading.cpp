// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/panel_reading.h"

#include "core/probe/registry.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

namespace normscope::widgets {

namespace {

struct Row {
    const char* panel;
    PanelQuestion question;
    const char *look_for, *means;
};

/// What the quantities are by their definitions; whether a run learns is not read off one panel.
constexpr Row kRows[] = {
    {"growth", PanelQuestion::Growth,
     "A line that climbs with depth, and how steeply. Compare the last layer with the first.",
     "How large the hidden state is after each sub-layer. Where it is large, a branch of equal size changes "
     "it less."},
    {"gradients", PanelQuestion::FirstLayer,
     "A slope. A flat line is a gradient of the same size in every layer.",
     "How much the loss changes with the hidden state of each layer. Nothing else reaches the layers below."},
    {"gradient_map", PanelQuestion::FirstLayer,
     "The layer whose colour leaves that of the others, and the step at which it does.",
     "The gradient of every layer at every measured step."},
    {"jacobian", PanelQuestion::Growth,
     "The distance between the largest and the smallest values, and the lane of zeros.",
     "By which factors a layer stretches small changes of its input. A zero is a direction that it erases."},
    {"training", PanelQuestion::Learning,
     "The step from which the line is below that of the frequencies, if there is one.",
     "The mean cross-entropy of each training batch. Below that line the model uses more than frequencies."},
    {"null_space", PanelQuestion::FirstLayer,
     "Sites whose bars are long, and sites where ε has a large share.",
     "How much of a change a norm erases: the part along its mean and the part along its input."},
    {"theta", PanelQuestion::Attention, "Heads and rows far from 1.",
     "How strongly a softmax row answers to its scores. A row with nearly all its weight on one key hardly "
     "does."},
    {"attention", PanelQuestion::Attention,
     "Heads at either end of the scale, and whether a layer has many of them.",
     "How a row of attention spreads over the keys, by the quantity that is chosen."},
    {"tokens", PanelQuestion::Attention, "Lines that approach 1 with depth.",
     "How alike the tokens of a sequence are in each layer, by the quantity that is chosen."},
    {"spectra", PanelQuestion::Growth, "The largest value, and how far the others are below it.",
     "By which factors the stack, or a layer, stretches changes of all tokens together, largest first."},
    {"mismatch", PanelQuestion::Precision, "The layer at which the line jumps.",
     "How far a pass in a low-precision format is from the same pass in float32, relative to its size."},
    {"fragility", PanelQuestion::Precision, "The layer with the largest term.",
     "A prediction of the low-precision error from sizes that are measured in float32, layer by layer."},
    {"ranges", PanelQuestion::Growth, "Places near the largest number of the format, or below its smallest.",
     "The largest and smallest magnitudes at each place of a pass, next to the limits of a format."},
    {"residual", PanelQuestion::Growth, "Where the line crosses 1.",
     "How large a branch is next to the hidden state that it is added to."},
    {"updates", PanelQuestion::Learning, "Groups of weights that differ from the others by a power of ten.",
     "How much one update changes a group of weights, relative to its size."},
    {"lipschitz", PanelQuestion::Growth, "How far the bound is above the measured gain.",
     "An upper limit of how much a layer can stretch any change of its input."},
    {"importance", PanelQuestion::FirstLayer, "Layers whose value is close to zero.",
     "How much higher the held-out loss is with the branches of a layer switched off."},
    {"gates", PanelQuestion::FirstLayer, "Gates that leave 1, and on which side.",
     "The factor by which a gate multiplies the signal at its site."},
    {"weights", PanelQuestion::Growth, "Matrices that differ from those of neighbouring layers.",
     "The size of each weight matrix, by the norm that is chosen."},
    {"shift", PanelQuestion::Precision, "Layers whose distance differs from that of the embeddings.",
     "How far a small change of the embeddings has moved the hidden states of each layer."},
    {"paths", PanelQuestion::FirstLayer,
     "Where paths through two branches and more overtake those through one.",
     "The Jacobian of the stack as a sum: no branch, one branch, and two branches or more."},
};

}  // namespace

PanelReading panelReading(const std::string& panel) {
    const auto* row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return panel == r.panel; });
    if (row == std::end(kRows)) return {};
    const auto translated = [](const char* text) {
        return QCoreApplication::translate("PanelReading", text);
    };
    return {row->question, translated(row->look_for), translated(row->means)};
}

QString costText(const std::vector<std::string>& probes) {
    const ProbeInfo* most = nullptr;
    for (const std::string& id : probes)
        if (const ProbeInfo* probe = find_probe(id); probe && (!most || probe->cost > most->cost))
            most = probe;
    if (!most) return {};
    const QString word = QString::fromUtf8(cost_word(most->cost));
    return most->by_default ? word : QCoreApplication::translate("PanelReading", "%1, on request").arg(word);
}

QString questionText(PanelQuestion question) {
    constexpr const char* kTexts[] = {
        QT_TRANSLATE_NOOP("PanelReading", "Is it learning?"),
        QT_TRANSLATE_NOOP("PanelReading", "How large does the signal get?"),
        QT_TRANSLATE_NOOP("PanelReading", "What reaches the first layer?"),
        QT_TRANSLATE_NOOP("PanelReading", "What do attention and tokens do?"),
        QT_TRANSLATE_NOOP("PanelReading", "What does low precision do?"),
    };
    return QCoreApplication::translate("PanelReading", kTexts[static_cast<std::size_t>(question)]);
}

}  // namespace normscope::widgets
