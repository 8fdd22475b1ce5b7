// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep_lines.h"

#include "app/cli/command.h"
#include "core/base/number_text.h"

#include <cmath>
#include <cstdio>
#include <iostream>

namespace normscope::app {

std::string duration_text(double seconds) {
    char text[64];
    if (seconds < 90)
        std::snprintf(text, sizeof text, "%.0f s", seconds);
    else if (seconds < 90 * 60)
        std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
    else
        std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
    return text;
}

void SweepLines::begun(const SweepCount& count) {
    std::cout << folder_ << ": " << count.total << " runs"
              << (count.ended > 0 ? ", " + std::to_string(count.ended) + " of them done" : "") << std::endl;
}

void SweepLines::ended(const SweepRun& run, const SweepRow& row, const Outcome& outcome,
                       const SweepCount& count) {
    std::cout << "[" << count.ended << "/" << count.total << "] " << run.name << ": "
              << run_state_word(row.state);
    if (row.diverged_at) std::cout << " at step " << *row.diverged_at;
    if (row.final_loss) std::cout << ", loss " << plain_number(*row.final_loss);
    if (row.seconds) std::cout << ", " << duration_text(*row.seconds);
    if (count.ended < count.total)
        std::cout << "; about " << duration_text(count.remaining_seconds) << " left";
    std::cout << std::endl;
    if (row.state == RunState::Failed) print_error(folder_ + "/" + run.recording + ": " + outcome.text);
}

void SweepLines::chose(const SweepSpec& spec, const ChosenValues& chosen) {
    std::cout << "chosen";
    for (const std::string& value : chosen.arm) std::cout << " " << value;
    std::cout << ": " << chosen_text(spec, chosen) << std::endl;
}

void SweepLines::note(const std::string& line) {
    std::cout << line << std::endl;
}

}  // namespace normscope::app
