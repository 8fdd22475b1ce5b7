// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"
#include "tests/support/thread_ranks.h"

#include <QtTest>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace normscope::rank_runs {

/// Sequences 0 … 6: shards of one and of two.
inline Recipe recipe_of(const std::string& settings, int steps = 6) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 7, "steps": )" +
                                     std::to_string(steps) + ", " + settings + "}",
                                 "test");
    complete_and_validate(recipe);
    return recipe;
}

inline std::string stack_of(const std::string& scheme, const std::string& more = "") {
    return R"("stack": {"depth": 2, "d_model": 24, "heads": 2, "context": 12, "scheme": ")" + scheme + "\"" +
           more + "}";
}

struct Trained {
    RunData run;
    Checkpoint last;
};

/// Until the end or until so many steps are done. In a rank that has a part of the optimizer's state, and is
/// not the first, without a checkpoint.
inline Trained train(const Recipe& recipe, Communicator* ranks, std::int64_t until = 1 << 20,
                     const Checkpoint* from = nullptr, Device& device = cpu_device(),
                     const RankRules& rules = {}) {
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "test", nullptr, device);
    if (ranks) experiment.join(*ranks, rules);
    const bool whole = rules.optimizer == OptimizerState::Whole;
    if (from) experiment.restore(*from);
    RunData run = experiment.header();
    const bool leads = ranks && ranks->rank() == 0;
    while (!experiment.ended() && experiment.steps_done() < until) {
        // The update is tried without the other ranks.
        if (leads && whole && recipe.train.precision != Precision::Fp16) experiment.measure("updates", pool);
        append(run, experiment.advance(pool, experiment.steps_a_call()));
    }
    experiment.collect_state();
    return {std::move(run), whole || leads ? experiment.checkpoint() : Checkpoint()};
}

/// What a rank that does not record trains. It takes part in `updates` where the state is in parts.
inline Recipe of_follower(Recipe recipe, const RankRules& rules = {}) {
    std::erase_if(recipe.probes, [&](const ProbePlan& plan) {
        return rules.optimizer == OptimizerState::Whole || plan.id != "updates";
    });
    recipe.train.validate_every = 0;
    return recipe;
}

inline const RankRules kInParts{OptimizerState::InParts, RankSum::ByShard};

using MakeDevice = std::function<std::unique_ptr<Device>()>;

/// Of each rank; on the CPU, or each on a device that `make` gives.
inline std::vector<Trained> train_in_ranks(const Recipe& recipe, int size, const Checkpoint* from = nullptr,
                                           const MakeDevice& make = nullptr, const RankRules& rules = {}) {
    std::vector<Trained> all(static_cast<std::size_t>(size));
    test::ThreadRanks(size).run([&](HostCommunicator& ranks) {
        const std::unique_ptr<Device> device = make ? make() : nullptr;
        all[static_cast<std::size_t>(ranks.rank())] =
            train(ranks.rank() == 0 ? recipe : of_follower(recipe, rules), &ranks, 1 << 20, from,
                  device ? *device : cpu_device(), rules);
    });
    return all;
}

/// The rows of `b`, which may begin later; columns that tell time differ.
inline void compare_rows(const RunData& a, const RunData& b) {
    QVERIFY(!b.steps.step.empty());
    const std::size_t skipped = a.steps.step.size() - b.steps.step.size();
    for (const char* name : {"loss", "val_loss", "grad_norm", "grad_ratio", "lr", "batch_hash"}) {
        const auto *x = a.steps.find(name), *y = b.steps.find(name);
        QVERIFY(x && y);
        QVERIFY2(std::memcmp(x->data() + skipped, y->data(), y->size() * sizeof(double)) == 0, name);
    }
    QCOMPARE(b.outcome.state, a.outcome.state);
    QCOMPARE(b.outcome.text, a.outcome.text);
}

inline void compare_arrays(const ProbeResult& a, const ProbeResult& b) {
    QCOMPARE(a.step, b.step);
    QCOMPARE(a.arrays.size(), b.arrays.size());
    for (std::size_t i = 0; i < a.arrays.size(); ++i) {
        const auto &x = a.arrays[i].data, &y = b.arrays[i].data;
        QVERIFY2(x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0,
                 a.arrays[i].name.c_str());
    }
}

inline void compare_state(const Checkpoint& a, const Checkpoint& b) {
    QCOMPARE(a.step, b.step);
    QVERIFY(a.params == b.params);
    QVERIFY(a.moment1 == b.moment1);
    QVERIFY(a.moment2 == b.moment2);
    QVERIFY(a.integers == b.integers);
    QCOMPARE(a.scalars.size(), b.scalars.size());
}

}  // namespace normscope::rank_runs
