// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/data_spec.h"
#include "core/recipe/precision.h"
#include "core/stack/fields.h"

#include <cstdint>

namespace normscope {

enum class OptimizerKind { AdamW, Adam, Sgd, Muon };
enum class LearningRateSchedule { Cosine, Linear, Constant };

struct OptimizerSpec {
    OptimizerKind kind = OptimizerKind::AdamW;
    double lr = 3e-3;
    double betas[2] = {0.9, 0.95};  ///< sgd: the first is the momentum, the second is unused
    double eps = 1e-8;
    double weight_decay = 0.1;  ///< which tensors and how: optimizers.h
    double clip = 1.0;          ///< global gradient norm; 0 = off
    bool operator==(const OptimizerSpec&) const = default;
};

struct ScheduleSpec {
    LearningRateSchedule lr = LearningRateSchedule::Cosine;
    int warmup = 0;                 ///< steps of linear warm-up
    bool warmup_from_zero = false;  ///< the first step's rate is 0, as in [G]; else that of nanoGPT
    double min_ratio = 0.1;         ///< last learning rate over the peak
    double temperature_from = 1.0;
    int temperature_warmup = 0;  ///< steps from temperature_from to the stack's τ ([E] §7)
    bool operator==(const ScheduleSpec&) const = default;
};

/// The training part of a recipe (all keys but the stack).
struct TrainSpec {
    DataSpec data;
    int batch = 8;       ///< sequences a micro-batch
    int accumulate = 1;  ///< micro-batches a step
    OptimizerSpec optimizer;
    ScheduleSpec schedule;
    Precision precision = Precision::Fp32;
    PrecisionPolicy precision_policy =
        PrecisionPolicy::Pure;  ///< what bf16 and fp16 round; otherwise ignored
    int steps = 200;
    std::uint64_t seed = 42;
    int validate_every = 50;   ///< steps between held-out losses; 0 = never
    int checkpoint_every = 0;  ///< steps between live checkpoints; 0 = automatic
    int checkpoint_keep = 2;
    bool operator==(const TrainSpec&) const = default;
};

void list_fields(Fields& fields, TrainSpec& spec);

/// What the CPU computes in. A device that lacks a precision rejects it (Device::ops_float).
std::span<const Precision> cpu_precisions();

/// Throws InputError for an unsupported value, naming the key and what is allowed.
void validate(const TrainSpec& spec);

}  // namespace normscope
