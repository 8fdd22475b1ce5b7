// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/run/device_runs.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <map>

// Twenty steps of small stacks of every scheme, with both blocks, without gates and with them, on the
// emulated CUDA device and on the CPU: losses, gradient norms and the weights after the last step.

namespace normscope::twenty_steps {

inline constexpr int kSteps = 20;

/// Largest differences: of a series relative to its largest magnitude, of a tensor to its own, or to how far
/// the optimizer can move a weight (steps times rate) where that is more.
struct Apart {
    double loss = 0, grad_norm = 0, weights = 0;
    std::string tensor;                     ///< that of `weights`
    double all_weights = 0;                 ///< norm of the difference over that of the weights
    std::map<std::string, double> tensors;  ///< `weights` of each
};

inline double relative(double difference, double scale) {
    return difference == 0 ? 0 : difference / scale;  // NaN where it is one
}

/// Of one stack.
struct Stack {
    Scheme scheme;
    Block block;
    bool gates;
    std::string name() const {
        return std::string(scheme_row(scheme).word) + (block == Block::Llama ? " llama" : " gpt2") +
               (gates ? " gates" : "");
    }
};

inline Recipe recipe_of(const Stack& stack, const std::vector<std::string>& more) {
    std::vector<std::string> settings{"stack.depth=2",    "stack.d_model=16",  "stack.heads=2",
                                      "stack.context=8",  "batch=2",           "steps=20",
                                      "validate.every=0", "optimizer.lr=0.002"};
    settings.push_back(std::string("stack.block=") + (stack.block == Block::Llama ? "llama" : "gpt2"));
    settings.push_back("stack.scheme=" + std::string(scheme_row(stack.scheme).word));
    if (stack.scheme == Scheme::Mix) settings.push_back("stack.mix_post_fraction=0.5");
    if (stack.scheme == Scheme::Custom)
        settings.push_back(
            "stack.layers=[{\"index\":0,\"attn\":{\"in\":true,\"post\":true},\"ffn\":{\"out\":true,\"a\":0.8}"
            "},"
            "{\"index\":1,\"attn\":{\"out\":true,\"b\":1.1},\"ffn\":{\"in\":true}}]");
    if (stack.gates) settings.push_back("stack.gpas.enabled=true");
    settings.insert(settings.end(), more.begin(), more.end());
    Recipe recipe = load_recipe("pre-ln", settings);
    recipe.probes.clear();
    return recipe;
}

struct Trained {
    std::vector<double> loss, grad_norm;
    std::vector<StoredTensor> weights;
};
inline Trained train(const Recipe& recipe, Device& device) {
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "test", nullptr, device);
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    return {*run.steps.find("loss"), *run.steps.find("grad_norm"), experiment.checkpoint().params};
}

inline double apart(const std::vector<double>& a, const std::vector<double>& b, double scale = 0) {
    double most = a.size() == b.size() ? 0 : std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        scale = std::max(scale, std::abs(b[i]));
        if (const double difference = std::abs(a[i] - b[i]); !(difference <= most)) most = difference;
    }
    return relative(most, scale);
}

/// A key's bias adds the same to all scores of a row (unless q and k are normalised or rotated after it), and
/// softmax does not see it: its gradient is zero but for round-off, which AdamW scales up to steps of size
/// lr. The test of run_cuda_device on key biases shows it.
inline bool counts(const StackSpec& stack, const std::string& tensor) {
    return !tensor.ends_with(".bk") || stack.qk_norm != QkNorm::Off || stack.position == Position::Rope;
}

inline Apart compare(const Recipe& recipe, const Trained& there, const Trained& here) {
    const double reach = kSteps * recipe.train.optimizer.lr;
    Apart found{apart(there.loss, here.loss), apart(there.grad_norm, here.grad_norm), 0, "", 0, {}};
    if (here.loss.size() != kSteps) found.loss = std::numeric_limits<double>::quiet_NaN();
    double difference = 0, norm = 0;
    for (std::size_t k = 0; k < here.weights.size(); ++k) {
        if (!counts(recipe.stack, here.weights[k].name)) continue;
        const auto actual = device_runs::stored_values(there.weights[k]),
                   expected = device_runs::stored_values(here.weights[k]);
        const double w = apart(actual, expected, reach);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            difference += (actual.at(i) - expected[i]) * (actual[i] - expected[i]);
            norm += expected[i] * expected[i];
        }
        found.tensors[here.weights[k].name] = w;
        if (!(w <= found.weights)) {
            found.weights = w;
            found.tensor = here.weights[k].name;
        }
    }
    found.all_weights = std::sqrt(difference / norm);
    return found;
}
/// The emulated CUDA device with the CPU.
inline Apart compare(const Recipe& recipe) {
    EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 11, false});
    return compare(recipe, train(recipe, device), train(recipe, cpu_device()));
}
/// The CPU's float32 with its float64: what rounding alone does to this recipe.
inline Apart rounding_of(const Recipe& recipe) {
    Recipe exact = recipe;
    exact.train.precision = Precision::Fp64;
    return compare(recipe, train(recipe, cpu_device()), train(exact, cpu_device()));
}

/// The errors of a run are the roundings of single results: one that falls to the other side changes a result
/// by a unit of the format. The loss, a mean over tokens, changes by a few; the gradient's norm follows the
/// largest gradients of a few entries; AdamW moves an entry whose gradient is of the size of its rounding
/// errors by up to the rate either way, so that weights are compared by their norm.
struct Tolerance {
    double loss, grad_norm, weights;
};
/// unit: that of rounding, 2⁻⁸ in BF16 and 2⁻¹¹ in FP16.
inline Tolerance of_unit(double unit) {
    return {4 * unit, 32 * unit, unit};
}

inline void verify(const Apart& found, const Tolerance& allowed) {
    qInfo("loss %.2g, gradient norm %.2g, weights %.2g; %.2g in %s", found.loss, found.grad_norm,
          found.all_weights, found.weights, found.tensor.c_str());
    QVERIFY2(found.loss <= allowed.loss, qPrintable(QString("loss: %1").arg(found.loss)));
    QVERIFY2(found.grad_norm <= allowed.grad_norm,
             qPrintable(QString("gradient norm: %1").arg(found.grad_norm)));
    QVERIFY2(found.all_weights <= allowed.weights, qPrintable(QString("weights: %1").arg(found.all_weights)));
}

inline void add_stacks() {
    QTest::addColumn<int>("scheme");
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("gates");
    for (const SchemeRow& row : scheme_rows::kAll)
        for (const Block block : {Block::Gpt2, Block::Llama})
            for (const bool gates : {false, true})
                QTest::newRow(Stack{row.scheme, block, gates}.name().c_str())
                    << static_cast<int>(row.scheme) << static_cast<int>(block) << gates;
}
inline Stack fetch_stack() {
    QFETCH(int, scheme);
    QFETCH(int, block);
    QFETCH(bool, gates);
    return {static_cast<Scheme>(scheme), static_cast<Block>(block), gates};
}

}  // namespace normscope::twenty_steps
