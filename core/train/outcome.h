// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace normscope {

/// The state of a run. Divergence, collapse and stalling are results, not errors (Verdict has their rules).
enum class RunState {
    Prepared,
    Running,
    Paused,
    Finished,
    Diverged,
    Collapsed,
    Stalled,
    Interrupted,
    Failed
};

/// The word in files, `info` and chips. "running", "finished", …
const char* run_state_word(RunState state);
/// The inverse; throws InputError for an unknown word.
RunState run_state_from_word(const std::string& word);

/// The step and reason of a run's end.
struct Outcome {
    RunState state = RunState::Prepared;
    std::int64_t step = -1;  ///< the step of the outcome, of a collapse its first; -1 if none
    std::string text;        ///< one line with the reason, e.g. "step 212 · L7 ffn.w2 · inf"
    int layer = -1;          ///< first bad layer of a divergence by a non-finite value, from 0; -1 otherwise
};

}  // namespace normscope
