// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/rank_group.h"

#include "app/cli/stop.h"
#include "core/backend/devices/devices.h"
#include "core/backend/plugin/load_cuda.h"
#include "core/backend/plugin/load_mpi.h"
#include "core/backend/plugin/load_nccl.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <vector>

namespace normscope::app {

namespace {

/// Of one rank, for the others.
struct OfRank {
    std::uint64_t words = 0;  ///< their hash
    std::int32_t wrong_input = 0;
    std::array<char, 500> error{};  ///< zero-terminated; empty: none
};

}  // namespace

RankGroup::RankGroup(const std::string& word, bool shards_optimizer) : shards_optimizer_(shards_optimizer) {
    if (shards_optimizer && word.empty())
        throw InputError("--shard-optimizer", "there is one process", "with --ranks");
    if (word != "mpi") return;
    ranks_ = &open_mpi(stop_wanted);
    rank_ = ranks_->rank();
}

std::string RankGroup::backend(const std::string& word) const {
    if (alone()) return word;
    if (word == "auto") return "cpu";
    if (word != "cuda") return word;
    const int card = ranks_->local_rank() % std::max(1, cuda_cards().count);
    return card == 0 ? word : word + ":" + std::to_string(card);
}

Communicator* RankGroup::communicator(const std::string& word) {
    if (alone() || device_named(word).capabilities().host_readable) return ranks_;
    const std::size_t number = word.find(':');
    cards_ = &open_nccl(*ranks_, number == std::string::npos ? 0 : std::stoi(word.substr(number + 1)));
    return cards_;
}

void RankGroup::connect() {
    if (!cards_) return;
    try {
        cards_->connect();
    } catch (const InputError&) {
        cards_ = nullptr;
        close();
        throw;
    }
}

RankShare RankGroup::share() const {
    if (alone()) return {};
    return {ranks_->size(), ranks_->local_size(), shards_optimizer_ && ranks_->size() > 1};
}

RankGroup::Wanted RankGroup::agree(const Wanted& mine) {
    if (!ranks_) return mine;
    Wanted any;
    for (const std::int32_t one : gathered<std::int32_t>(*ranks_, mine.stops + 2 * mine.checkpoint)) {
        any.stops |= (one & 1) != 0;
        any.checkpoint |= (one & 2) != 0;
    }
    return any;
}

void RankGroup::prepare(const std::function<std::string()>& prepare) {
    if (!ranks_) {
        prepare();
        return;
    }
    OfRank mine;
    try {
        mine.words = std::hash<std::string>()(prepare());
    } catch (const std::exception& error) {
        const std::string text = *error.what() ? error.what() : "unknown error";
        std::snprintf(mine.error.data(), mine.error.size(), "%s", text.c_str());
        mine.wrong_input = dynamic_cast<const InputError*>(&error) != nullptr;
    }
    const std::vector<OfRank> all = gathered(*ranks_, mine);
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (!all[r].error[0]) continue;
        const std::string text = (r == 0 ? "" : "rank " + std::to_string(r) + ": ") + all[r].error.data();
        close();
        if (all[r].wrong_input) throw InputError(text);
        throw SystemError(text);
    }
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (all[r].words == all[0].words) continue;
        close();
        throw InputError("rank " + std::to_string(r),
                         "has another recipe, checkpoint or version of Normscope than rank 0",
                         "the same in all ranks");
    }
}

void RankGroup::close() {
    if (cards_) cards_->close();
    cards_ = nullptr;
    if (ranks_) close_mpi();
    ranks_ = nullptr;
}

void RankGroup::abort(int code) {
    std::cout.flush();
    std::fflush(nullptr);
    if (ranks_) ranks_->abort(code);
    std::_Exit(code);
}

}  // namespace normscope::app
