// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/results_writer.h"

namespace normscope {

bool ResultsWriter::write() {
    waiting_ = false;
    std::vector<SweepRow> all;
    for (const auto& [index, row] : rows) all.push_back(row);
    return folder_.write_results(results_csv(spec_, runs_, all, timed_));
}

void ResultsWriter::write_in_time(bool last) {
    if (!last && Clock::now() - written_ < 20 * took_) {
        waiting_ = true;
        return;
    }
    const Clock::time_point begun = Clock::now();
    write();
    written_ = Clock::now();
    took_ = written_ - begun;
}

}  // namespace normscope
