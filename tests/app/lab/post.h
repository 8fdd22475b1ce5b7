// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace normscope::test {

/// Replies that a test applies at any time and in any order (Lab::Options::deliver). They refer to the
/// laboratory and must not outlive it.
struct Post {
    std::vector<std::function<void()>> held;
    bool hold = false;

    static std::function<void(std::function<void()>)> of(const std::shared_ptr<Post>& post) {
        return [post](std::function<void()> reply) {
            if (post->hold)
                post->held.push_back(std::move(reply));
            else
                reply();
        };
    }
    /// What came while they were held; what comes meanwhile is applied at once, or held if it still holds.
    void deliver(bool backwards = false) {
        auto replies = std::exchange(held, {});
        if (backwards) std::reverse(replies.begin(), replies.end());
        for (const auto& reply : replies) reply();
    }
};

/// Rows without a hole or a repetition, samples in the order of their steps, each event once.
inline bool sound(const RunData& run) {
    for (std::size_t i = 0; i < run.steps.rows(); ++i)
        if (run.steps.step[i] != static_cast<std::int64_t>(i)) return false;
    for (const auto& column : run.steps.columns)
        if (column.size() != run.steps.rows()) return false;
    for (const auto& [probe, samples] : run.probes)
        for (std::size_t i = 1; i < samples.size(); ++i)
            if (samples[i].step <= samples[i - 1].step) return false;
    for (std::size_t i = 1; i < run.events.size(); ++i)
        if (run.events[i].step == run.events[i - 1].step && run.events[i].text == run.events[i - 1].text)
            return false;
    return true;
}

}  // namespace normscope::test
