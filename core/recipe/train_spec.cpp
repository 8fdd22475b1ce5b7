// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/train_spec.h"

#include "core/base/error.h"

namespace normscope {

namespace {
constexpr const char* kOptimizers[] = {"adamw", "adam", "sgd", "muon"};
constexpr const char* kSchedules[] = {"cosine", "linear", "constant"};
constexpr const char* kPrecisions[] = {"fp32", "tf32", "bf16", "fp16", "fp64"};
constexpr const char* kPolicies[] = {"pure", "autocast"};
constexpr int kManySteps = 1'000'000'000;
}  // namespace

template <>
std::span<const char* const> words_of<OptimizerKind>() {
    return kOptimizers;
}
template <>
std::span<const char* const> words_of<LearningRateSchedule>() {
    return kSchedules;
}
template <>
std::span<const char* const> words_of<Precision>() {
    return kPrecisions;
}
template <>
std::span<const char* const> words_of<PrecisionPolicy>() {
    return kPolicies;
}

void list_fields(Fields& f, TrainSpec& s) {
    f.group("data", [&] {
        f.choice("source", s.data.source);
        f.text("path", s.data.path);
        f.text("tokenizer", s.data.tokenizer, observes());
        f.real("held_out", s.data.held_out, {0, 0.9});
    });
    f.integer("batch", s.batch, 1, 1 << 16);
    f.integer("accumulate", s.accumulate, 1, 1 << 16);
    f.group("optimizer", [&] {
        f.choice("kind", s.optimizer.kind);
        f.real("lr", s.optimizer.lr, {0}, hot("learning rate", &HotKnobs::lr));
        f.reals("betas", s.optimizer.betas, {0, 0.999999999});
        f.real("eps", s.optimizer.eps, {0});
        f.real("weight_decay", s.optimizer.weight_decay, {0}, hot("weight decay", &HotKnobs::weight_decay));
        f.real("clip", s.optimizer.clip, {0}, hot("clip", &HotKnobs::clip));
    });
    f.group("schedule", [&] {
        f.choice("lr", s.schedule.lr);
        f.integer("warmup", s.schedule.warmup, 0, kManySteps);
        f.flag("warmup_from_zero", s.schedule.warmup_from_zero);
        f.real("min_ratio", s.schedule.min_ratio, {0, 1});
        f.real("temperature_from", s.schedule.temperature_from, {0, 1e30, true});
        f.integer("temperature_warmup", s.schedule.temperature_warmup, 0, kManySteps);
    });
    f.choice("precision", s.precision);
    f.choice("precision_policy", s.precision_policy);
    f.integer("steps", s.steps, 0, kManySteps);
    f.whole("seed", s.seed);
    f.group("validate", [&] { f.integer("every", s.validate_every, 0, kManySteps, observes()); });
    f.group("checkpoint", [&] {
        f.integer("every", s.checkpoint_every, 0, kManySteps, observes());
        f.integer("keep", s.checkpoint_keep, 1, 1000, observes());
    });
}

std::span<const Precision> cpu_precisions() {
    static constexpr Precision kCan[] = {Precision::Fp32, Precision::Tf32, Precision::Bf16, Precision::Fp16,
                                         Precision::Fp64};
    return kCan;
}

void validate(const TrainSpec& s) {
    if (is_from_files(s.data.source) && s.data.path.empty())
        throw InputError("data.path", "is missing",
                         is_of_images(s.data.source) ? "the path of a folder, with data.source cifar10"
                         : s.data.source == DataSource::Tokens ? "the path of a token file or folder"
                                                               : "the path of a file, with data.source text");
}

}  // namespace normscope
