// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace normscope {

/// The state of a run. Divergence, collapse and stalling are results, not errors (Verdict has their rules).
enum class RunState { Prepared, Running, Paused, Finished, Diverged, Collapsed, Stalled, Interrupted, Failed };

/// The word used everywhere: files, `info`, chips. "running", "finished", …
const char* run_state_word(RunState state);
/// The inverse; throws InputError for an unknown word.
RunState run_state_from_word(const std::string& word);

/// Where and why a run ended.
struct Outcome {
    RunState state = RunState::Prepared;
    std::int64_t step = -1;  ///< the step the outcome speaks of, of a collapse its first; -1 where there is none
    std::string text;        ///< one line with what decided it, e.g. "step 212 · L7 ffn.w2 · inf"
    int layer = -1;          ///< first bad layer of a divergence by a non-finite value, from 0; -1 otherwise
};

}  // namespace normscope
