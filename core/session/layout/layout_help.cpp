// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/layout/layout_help.h"

namespace normscope {

namespace {

constexpr LayoutRow kRows[] = {
    {"/@format", "text", "normscope-session"},
    {"/@version", "int64", "of the format, 1"},
    {"/@app_version", "text", "of the program that wrote the file"},
    {"/@created", "text", "UTC, ISO 8601"},
    {"/runs", "group", "the runs, by id"},
    {"/runs/{id}", "group", "one run"},
    {"/runs/{id}@name", "text", "\"Pre-LN\""},
    {"/runs/{id}@recipe", "text", "the complete recipe, JSON in one line"},
    {"/runs/{id}@backend", "text", "the device that it was started on: cpu, cuda, …"},
    {"/runs/{id}@device", "text", "the name of the processor or the card"},
    {"/runs/{id}@seed", "uint64", "of the weights and the batches"},
    {"/runs/{id}@ln_vocab", "float64", "ln V, the loss of the uniform distribution, nat"},
    {"/runs/{id}@unigram_entropy", "float64", "loss of the token frequencies alone, nat; NaN where unknown"},
    {"/runs/{id}@bigram_entropy", "float64",
     "loss of the best model that reads the token before alone, nat; NaN where unknown"},
    {"/runs/{id}@trigram_entropy", "float64",
     "loss of the best model that reads the two tokens before, nat; NaN where unknown"},
    {"/runs/{id}@entropy_rate", "float64", "lowest possible loss of the source, nat; NaN where unknown"},
    {"/runs/{id}/state", "text of 16 bytes [1]",
     "running, paused, finished, stalled, collapsed, diverged, failed or interrupted"},
    {"/runs/{id}/outcome", "group", "what decided the state"},
    {"/runs/{id}/outcome/step", "int64 [1]", "the step at which it was decided"},
    {"/runs/{id}/outcome/layer", "int32 [1]",
     "the layer of the first value that is not finite; −1 without one"},
    {"/runs/{id}/outcome/text", "text of 240 bytes [1]", "the values that decided it"},
    {"/runs/{id}/writer", "group", "the process that writes a recording; a saved session has none"},
    {"/runs/{id}/writer@host", "text", "its machine"},
    {"/runs/{id}/writer@boot_id", "text", "of the machine's start"},
    {"/runs/{id}/writer@pid", "int64", "its number"},
    {"/runs/{id}/writer@start", "int64", "its start, in ticks of the system"},
    {"/runs/{id}/heartbeat", "int64 [1]",
     "in a recording: written about once a second while the process lives"},
    {"/runs/{id}/steps", "group", "one row a training step; row s is of the weights before the s-th update"},
    {"/runs/{id}/steps/step", "int64 [steps]", "the step"},
    {"/runs/{id}/steps/loss", "float64 [steps]", "mean cross-entropy of the training batch, nat"},
    {"/runs/{id}/steps/val_loss", "float64 [steps]",
     "mean cross-entropy of 64 held-out sequences, the same at every step, nat; NaN where not taken"},
    {"/runs/{id}/steps/val_loss_error", "float64 [steps]",
     "its standard error over the sequences; absent in recordings of earlier versions, whose val_loss is of "
     "four batches of the recipe's size"},
    {"/runs/{id}/steps/val_accuracy", "float64 [steps]",
     "of images: share of 512 held-out images that are classified right, the same images at every step; NaN "
     "where not taken"},
    {"/runs/{id}/steps/accuracy", "float64 [steps]",
     "of images: the same of the images of the step's first micro-batch, before its update"},
    {"/runs/{id}/steps/grad_norm", "float64 [steps]", "norm of the whole gradient before clipping"},
    {"/runs/{id}/steps/grad_ratio", "float64 [steps]",
     "‖∂L/∂h‖ after layer 1 over that after the last layer, training batch"},
    {"/runs/{id}/steps/lr", "float64 [steps]", "learning rate"},
    {"/runs/{id}/steps/temperature", "float64 [steps]", "softmax temperature τ"},
    {"/runs/{id}/steps/tokens_per_s", "float64 [steps]", "speed of the training"},
    {"/runs/{id}/steps/step_ms", "float64 [steps]", "wall time of the step, ms"},
    {"/runs/{id}/steps/probe_ms", "float64 [steps]", "wall time of the probes at this step, ms"},
    {"/runs/{id}/steps/batch_hash", "float64 [steps]",
     "a whole number below 2^53, of the step's tokens, targets and images: runs with the same numbers had "
     "the same "
     "data"},
    {"/runs/{id}/steps/loss_scale", "float64 [steps]", "FP16 only: the factor of the loss"},
    {"/runs/{id}/steps_overview", "group",
     "in a saved session: minimum and maximum of each column in blocks of 64 rows, 4096, …, so that a long "
     "run opens at once"},
    {"/runs/{id}/probes", "group", "the samples of the probes, by id"},
    {"/runs/{id}/probes/{probe}", "group", "attributes: the labels of the probe, and the two that follow"},
    {"/runs/{id}/probes/{probe}@sampled", "list of texts", "what was measured: sequences, rows, tokens"},
    {"/runs/{id}/probes/{probe}@only", "list of texts", "the selection of places, where there is one"},
    {"/runs/{id}/probes/{probe}/step", "int64 [samples]", "the step of each sample"},
    {"/runs/{id}/probes/{probe}/cost_ms", "float64 [samples]", "wall time of the sample, ms"},
    {"/runs/{id}/probes/{probe}/{array}", "float64 [samples, …]", "an array of the probe"},
    {"/runs/{id}/probes/{probe}/{array}@axes", "list of texts", "names of the axes, the first is sample"},
    {"/runs/{id}/probes/{probe}/{array}@unit", "text", "1 where dimensionless"},
    {"/runs/{id}/probes/flight", "group",
     "the flight recorder: rms and gradient of every hidden state on the training batch, at the up to 64 "
     "steps before each event"},
    {"/runs/{id}/events", "{step int64, kind S16, text S240} [events]",
     "knob, spike, overflow, outcome, checkpoint, resume, series, weights, watch, watches, fork, "
     "steps, external"},
    {"/runs/{id}/checkpoints", "group", "by step, in a saved session; those of a recording are next to it"},
    {"/runs/{id}/checkpoints/{step}", "group", "all that is needed to resume bit for bit"},
    {"/runs/{id}/checkpoints/{step}@step", "int64", "updates made"},
    {"/runs/{id}/checkpoints/{step}@recipe", "text", "the recipe at that step, JSON"},
    {"/runs/{id}/checkpoints/{step}/params", "group", "the parameters, by the name of the tensor"},
    {"/runs/{id}/checkpoints/{step}/moment1", "group",
     "the optimizer's first moments, by the name of the tensor"},
    {"/runs/{id}/checkpoints/{step}/moment2", "group", "its second moments; absent under sgd"},
    {"/runs/{id}/checkpoints/{step}/scalars", "float64", "loss scale, smoothed losses, …; attribute names"},
    {"/runs/{id}/checkpoints/{step}/integers", "int64",
     "generator, position in the data, …; attribute names"},
    {"/view", "group", "what the window showed; absent in a recording"},
    {"/view/json", "text", "panels, selections, step, comparison"},
};

}  // namespace

std::span<const LayoutRow> session_layout() {
    return kRows;
}

}  // namespace normscope
