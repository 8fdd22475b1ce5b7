// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/outcome.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <array>

namespace normscope {
namespace {

constexpr std::array words = {"prepared",  "running", "paused",      "finished", "diverged",
                              "collapsed", "stalled", "interrupted", "failed"};
static_assert(words.size() == static_cast<std::size_t>(RunState::Failed) + 1);

}  // namespace

const char* run_state_word(RunState state) {
    return words.at(static_cast<std::size_t>(state));
}

RunState run_state_from_word(const std::string& word) {
    std::string allowed;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (word == words[i]) return static_cast<RunState>(i);
        allowed += (i ? ", " : "") + std::string(words[i]);
    }
    throw InputError("state", normscope::quoted(word) + " is unknown", allowed);
}

}  // namespace normscope
