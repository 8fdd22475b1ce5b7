// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_header.h"

namespace normscope {

RunData header_of(const RunData& run) {
    RunData header;
    header.id = run.id;
    header.name = run.name;
    header.recipe = run.recipe;
    header.backend = run.backend;
    header.device = run.device;
    header.seed = run.seed;
    header.outcome = run.outcome;
    header.ln_vocab = run.ln_vocab;
    header.unigram_entropy = run.unigram_entropy;
    header.entropy_rate = run.entropy_rate;
    return header;
}

}  // namespace normscope
