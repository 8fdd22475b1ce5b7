// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/rank_group.h"

#include "app/cli/stop.h"
#include "core/backend/plugin/load_mpi.h"

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

RankGroup::RankGroup(const std::string& word) {
    if (word != "mpi") return;
    ranks_ = &open_mpi(stop_wanted);
    rank_ = ranks_->rank();
}

bool RankGroup::any(bool mine) {
    if (!ranks_) return mine;
    const auto all = gathered<std::int32_t>(*ranks_, mine);
    return std::any_of(all.begin(), all.end(), [](std::int32_t one) { return one != 0; });
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
