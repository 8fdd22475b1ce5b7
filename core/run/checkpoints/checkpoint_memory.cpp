// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/checkpoint_memory.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace normscope {

namespace {

enum class Rank { Free, Spared, Fixed };

struct Entry {
    std::size_t place = 0;  ///< in HeldCheckpoints::held
    std::int64_t step = 0;
    std::size_t bytes = 0;
    Rank rank = Rank::Free;
};

/// Ranks over all checkpoints of the run, so that dropping one does not change the others.
std::vector<Entry> ranked(const HeldCheckpoints& run) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < run.held.size(); ++i)
        entries.push_back({i, run.held[i].step, run.held[i].bytes, Rank::Free});
    if (entries.empty()) return entries;
    const auto raise = [](Entry& entry, Rank rank) { entry.rank = std::max(entry.rank, rank); };
    raise(entries.front(), entries.front().step == 0 ? Rank::Fixed : Rank::Spared);
    for (std::size_t i = entries.size();
         i-- > 0 && entries.size() - i <= static_cast<std::size_t>(std::max(1, run.keep));)
        raise(entries[i], Rank::Spared);
    raise(entries.back(), Rank::Fixed);
    const auto latest = std::max_element(run.spikes.begin(), run.spikes.end());
    for (const std::int64_t& spike : run.spikes)
        for (std::size_t i = entries.size(); i-- > 0;)
            if (entries[i].step <= spike) {
                raise(entries[i], spike == *latest ? Rank::Fixed : Rank::Spared);
                break;
            }
    return entries;
}

/// The least valuable droppable entry of a run, and the ratio of its neighbours' ages.
std::optional<std::pair<double, std::size_t>> least_missed(const std::vector<Entry>& entries) {
    std::optional<std::pair<double, std::size_t>> least;
    for (std::size_t i = 1; i + 1 < entries.size(); ++i) {
        if (entries[i].rank != Rank::Free) continue;
        const auto age = [&](std::size_t k) {
            return static_cast<double>(entries.back().step - entries[k].step) + 1;
        };
        const double ratio = age(i - 1) / age(i + 1);
        if (!least || ratio < least->first) least = {ratio, i};
    }
    return least;
}

std::optional<std::size_t> oldest_spared(const std::vector<Entry>& entries) {
    const auto oldest = std::find_if(entries.begin(), entries.end(),
                                     [](const Entry& entry) { return entry.rank == Rank::Spared; });
    if (oldest == entries.end()) return std::nullopt;
    return static_cast<std::size_t>(oldest - entries.begin());
}

}  // namespace

std::size_t bytes_of(const Checkpoint& checkpoint) {
    std::size_t bytes = 0;
    for (const auto* tensors : {&checkpoint.params, &checkpoint.moment1, &checkpoint.moment2})
        for (const StoredTensor& tensor : *tensors) bytes += tensor.bytes.size();
    return bytes;
}

std::vector<std::pair<std::size_t, std::size_t>> excess_checkpoints(const std::vector<HeldCheckpoints>& runs,
                                                                    std::size_t most_bytes,
                                                                    std::size_t most_of_run) {
    std::vector<std::vector<Entry>> left;
    std::size_t bytes = 0;
    for (const HeldCheckpoints& run : runs) {
        left.push_back(ranked(run));
        for (const Entry& entry : left.back()) bytes += entry.bytes;
    }
    std::vector<std::pair<std::size_t, std::size_t>> gone;
    const auto drop = [&](std::size_t run, std::size_t i) {
        gone.emplace_back(run, left[run][i].place);
        bytes -= left[run][i].bytes;
        left[run].erase(left[run].begin() + static_cast<std::ptrdiff_t>(i));
    };

    for (std::size_t run = 0; run < runs.size(); ++run)
        while (left[run].size() >
               std::max(most_of_run, static_cast<std::size_t>(std::max(1, runs[run].keep)) + 1)) {
            const auto least = least_missed(left[run]);
            const auto next = least ? std::optional(least->second) : oldest_spared(left[run]);
            if (!next) break;
            drop(run, *next);
        }
    while (bytes > most_bytes) {
        std::optional<std::pair<std::size_t, std::size_t>> next;
        double smallest = std::numeric_limits<double>::infinity();
        for (std::size_t run = 0; run < runs.size(); ++run)
            if (const auto least = least_missed(left[run]); least && least->first < smallest) {
                smallest = least->first;
                next = {run, least->second};
            }
        // Of the protected ones the oldest, of the run that holds the most checkpoints.
        std::size_t most = 0;
        const bool any_free = next.has_value();
        for (std::size_t run = 0; run < runs.size() && !any_free; ++run)
            if (const auto oldest = oldest_spared(left[run]); oldest && left[run].size() > most) {
                most = left[run].size();
                next = {run, *oldest};
            }
        if (!next) break;
        drop(next->first, next->second);
    }
    return gone;
}

}  // namespace normscope
