// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/widgets/figures/panels/synthetic_run.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace normscope::synthetic {

/// Runs of several schemes and seeds, with growth, gradients and losses that differ by seed.
struct GroupRuns {
    std::vector<std::unique_ptr<RunData>> owned;
    std::vector<const RunData*> runs;

    RunData& add(const std::string& scheme, int seed, const std::string& more = "", int depth = 12,
                 int steps = 100) {
        auto run = std::make_unique<RunData>(synthetic::run(
            scheme, R"({"stack": {"scheme": ")" + scheme + R"(", "depth": )" + std::to_string(depth) +
                        R"(}, "seed": )" + std::to_string(seed) + more + "}"));
        const double rate = 0.02 * double(owned.size() % 7 + 1);
        const auto at = [&](double k) { return std::exp(rate * k) * (1 + 0.1 * (seed - 43)); };
        for (const std::int64_t step : {0, 50, steps - 1}) {
            synthetic::add(*run, "growth", step,
                           {vector("rms", values(2 * depth + 1, [&](int k) { return at(k); }))});
            synthetic::add(*run, "gradients", step, {vector("hidden", values(2 * depth + 1, [&](int k) {
                                                                return std::pow(10.0, -rate * k) *
                                                                       (1 + 0.2 * (seed - 43));
                                                            }))});
        }
        for (int step = 0; step < steps; ++step)
            run->steps.append({step, {{"loss", 2 + std::exp(-step * rate) + 0.1 * (seed - 43)}}});
        run->outcome.state = RunState::Finished;
        run->unigram_entropy = 2.87 + 0.01 * (seed - 43);
        run->ln_vocab = 4.16;
        owned.push_back(std::move(run));
        runs.push_back(owned.back().get());
        return *owned.back();
    }
};

inline const std::vector<std::string>& sixSchemes() {
    static const std::vector<std::string> all = {"pre", "post", "peri", "deepnorm", "mix", "lns"};
    return all;
}

/// 6 schemes × 3 seeds; two of the three Post-LN runs stalled.
inline GroupRuns sixTimesThree() {
    GroupRuns all;
    for (int seed = 42; seed <= 44; ++seed)
        for (const std::string& scheme : sixSchemes()) {
            RunData& run = all.add(scheme, seed);
            if (scheme == "post" && seed > 42) run.outcome = {RunState::Stalled, 99, "stalled"};
        }
    return all;
}

}  // namespace normscope::synthetic
