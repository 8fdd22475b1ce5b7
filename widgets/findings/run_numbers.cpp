// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/run_numbers.h"

#include "core/findings/held_out_loss.h"
#include "widgets/figures/panels/gradients_panel.h"
#include "widgets/figures/parts/panel_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>

namespace normscope::widgets {

namespace {

QString translatedText(const char* source) {
    return QCoreApplication::translate("RunNumbers", source);
}

/// Two digits, or one after the point from 1 on: "0.34", "4.9", "18.0", "5.9×10⁻⁷".
QString shortText(double value) {
    const double size = std::abs(value);
    return size >= 0.995 && size < 1000 ? QString::number(value, 'f', size < 99.95 ? 1 : 0)
                                        : numberText(value, 2);
}

QString withError(double value, const std::vector<double>& errors, std::size_t at) {
    const QString exact = numberText(value);
    return at < errors.size() && std::isfinite(errors[at])
               ? translatedText("%1 ± %2").arg(exact, numberText(errors[at], 2))
               : exact;
}

/// The shown step of a run: its newest where none is scrubbed to; nullopt before its training.
std::optional<std::int64_t> shownStep(const PanelInput& input, const RunData& run) {
    if (input.shownStep() != std::numeric_limits<std::int64_t>::max()) return input.shownStep();
    if (run.steps.rows() == 0) return std::nullopt;
    return run.steps.step.back();
}

BandNumber missing(const QString& caption, const QString& what, const QString& why) {
    return {QStringLiteral("–"), {}, caption, {}, translatedText("%1: %2").arg(what, why)};
}

/// The run's own sample that a panel of this input shows.
std::optional<ShownSample> sampleOf(const PanelInput& input, std::size_t run, const std::string& probe) {
    for (const ShownSample& shown : shownSamples(input, probe))
        if (shown.own() && shown.index == static_cast<int>(run)) return shown;
    return std::nullopt;
}

/// What the numbers of samples have in common.
void place(BandNumber& number, const PanelInput& input, const ShownSample& shown) {
    const std::int64_t step = shown.sample->step;
    if (shownStep(input, *shown.run) != step) number.note = translatedText("at step %1").arg(step);
    number.draft = shown.kind == LineKind::Draft;
    if (number.draft)
        number.tip += u'\n' + translatedText("A first estimate, on part of the batch or of the knobs before");
}

/// "8 sequences of the probes": which batch a sample is of.
QString probeBatch(const ProbeResult& sample) {
    const auto label = sample.labels.find("sampled");
    const QString sampled = label == sample.labels.end() || label->second.empty()
                                ? QString()
                                : QString::fromStdString(label->second.front());
    return sampled.isEmpty() ? translatedText("the probes' batch")
                             : translatedText("%1 of the probes").arg(sampled);
}

/// Before training: that of the sample of the gradients, which is of the probes' batch.
BandNumber heldOutLoss(const PanelInput& input, std::size_t run) {
    const QString caption = translatedText("held-out loss");
    const auto shown = sampleOf(input, run, "gradients");
    const auto loss = shown ? heldOutLossOf(*shown->sample) : std::nullopt;
    if (!loss) return missing(caption, translatedText("Loss"), whyMissing(input, run, "gradients"));
    const NamedArray* error = shown->sample->find("loss_error");
    BandNumber number{
        lossText(*loss),
        translatedText("nat"),
        caption,
        {},
        translatedText("Loss at step %1: %2 nat\nMean cross-entropy of %3, held out; ± over its sequences")
            .arg(shown->sample->step)
            .arg(error ? withError(*loss, error->data, 0) : numberText(*loss), probeBatch(*shown->sample))};
    place(number, input, *shown);
    return number;
}

BandNumber loss(const PanelInput& input, std::size_t index) {
    const RunData& run = *input.runs[index];
    const QString what = translatedText("Loss");
    const auto step = shownStep(input, run);
    if (input.exploring || !step || run.steps.rows() == 0) return heldOutLoss(input, index);
    const QString caption = translatedText("loss, step %1").arg(*step);
    const auto value = lossAt(run, *step);
    const std::int64_t last = run.steps.step.back();
    if (!value)
        return missing(caption, what,
                       run.unread     ? translatedText("not read from the file yet")
                       : *step > last ? translatedText("the run has no step after %1").arg(last)
                                      : translatedText("step %1 is not recorded").arg(*step));
    const QString tip = translatedText(
        "Loss at step %1: %2 nat\nMean cross-entropy of the step's training batch, before the update");
    BandNumber number{
        lossText(*value), translatedText("nat"), caption, {}, tip.arg(*step).arg(numberText(*value))};
    if (const auto held_out = held_out_loss(run, *step)) {
        number.note = translatedText("held-out %1").arg(lossText(held_out->loss));
        if (held_out->step != *step) number.note += translatedText(", step %1").arg(held_out->step);
        number.tip += u'\n' + heldOutText(*held_out);
    }
    return number;
}

/// "layer 12" of the recipe, for a number without a sample.
QString lastLayer(const RunData& run) {
    const Recipe* recipe = run.recipe.get();
    return recipe ? QString::number(recipe->stack.depth) : translatedText("last");
}

BandNumber rms(const PanelInput& input, std::size_t run) {
    const QString caption = translatedText("RMS, layer %1"), what = translatedText("RMS of the hidden state");
    const auto shown = sampleOf(input, run, "growth");
    const auto profile = shown ? hiddenProfile(*shown->sample, "rms") : std::nullopt;
    if (!profile)
        return missing(caption.arg(lastLayer(*input.runs[run])), what, whyMissing(input, run, "growth"));
    const std::size_t last = profile->y.size() - 1;
    BandNumber number{
        shortText(profile->y[last]),
        {},
        caption.arg(profile->depth),
        {},
        translatedText("%1 after layer %2 at step %3: %4\nHeld-out batch, all tokens; ± over its sequences")
            .arg(what)
            .arg(profile->depth)
            .arg(shown->sample->step)
            .arg(withError(profile->y[last], profile->error, last))};
    place(number, input, *shown);
    return number;
}

BandNumber gradient(const PanelInput& input, std::size_t run) {
    const QString caption = translatedText("gradient, layer 1 over %1"),
                  what = translatedText("Gradient ratio");
    const auto shown = sampleOf(input, run, "gradients");
    const auto profile = shown ? gradientProfile(*shown->sample, "hidden") : std::nullopt;
    if (!profile)
        return missing(caption.arg(lastLayer(*input.runs[run])), what, whyMissing(input, run, "gradients"));
    const auto ratio = gradientRatio(*shown->sample);
    if (!ratio)
        return missing(caption.arg(profile->depth), what, translatedText("a stack of one layer has none"));
    if (std::isnan(*ratio) && !shown->sample->only().empty())
        return missing(
            caption.arg(profile->depth), what,
            translatedText("only %1 are measured").arg(QString::fromStdString(shown->sample->only())));
    const std::size_t last = profile->y.size() - 1;
    BandNumber number{
        shortText(*ratio),
        {},
        caption.arg(profile->depth),
        {},
        translatedText("‖∂L/∂h‖, layer 1 over %1 at step %2: %3\n%4 after layer 1, %5 after layer %1\n"
                       "Held-out batch, all tokens; ± over its sequences")
            .arg(profile->depth)
            .arg(shown->sample->step)
            .arg(numberText(*ratio), withError(profile->y[2], profile->error, 2),
                 withError(profile->y[last], profile->error, last))};
    place(number, input, *shown);
    return number;
}

}  // namespace

std::optional<double> lossAt(const RunData& run, std::int64_t step) {
    const auto& steps = run.steps.step;
    const std::vector<double>* losses = run.steps.find("loss");
    const auto at = std::lower_bound(steps.begin(), steps.end(), step);
    if (!losses || at == steps.end() || *at != step) return std::nullopt;
    return (*losses)[static_cast<std::size_t>(at - steps.begin())];
}

QString heldOutText(const HeldOutLoss& held_out) {
    return translatedText("Held-out loss at step %1: %2 nat, %3")
        .arg(held_out.step)
        .arg(withError(held_out.loss, {held_out.error}, 0), QString::fromStdString(held_out.of_text()));
}

std::optional<double> heldOutLossOf(const ProbeResult& sample) {
    const NamedArray* loss = sample.find("loss");
    if (!loss || loss->data.size() != 1) return std::nullopt;
    return loss->data[0];
}

std::vector<BandNumber> runNumbers(const PanelInput& growth, const PanelInput& gradients, std::size_t run) {
    return {loss(gradients, run), rms(growth, run), gradient(gradients, run)};
}

}  // namespace normscope::widgets
