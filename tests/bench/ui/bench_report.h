// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/ui/drag_recorder.h"

#include <QSize>
#include <string>
#include <vector>

namespace normscope::app::bench {

struct KnobResult {
    std::string key, title;
    double from = 0, to = 0;  ///< the range of the drag; both 0 for a choice
    double limit_ms = 0;      ///< for the 95th percentile of the latency
    DragTimes times;
};

/// An event of the interface thread that took some milliseconds while runs trained: "class, type".
struct SlowEvent {
    int count = 0;
    double total_ms = 0, longest_ms = 0;
};

/// The self-check: a stall of the interface thread, and the longest wait of the watchdog and of a move.
struct StallCheck {
    int stall_ms = 0;
    double watchdog_ms = 0, move_ms = 0;
};
/// Whether they show a stall of 50 ms.
bool stallSeen(const StallCheck& check);

struct BenchResult {
    std::string platform;  ///< of Qt: xcb, wayland, offscreen
    QSize size;
    double seconds = 0;
    int cores = 0, threads = 0, runs = 0;
    std::vector<std::string> panels;
    StallCheck check;
    std::vector<double> redraw;     ///< of 48 curves of 1,000 points, ms
    double open_ms = 0;             ///< a session, to its first paint; 0: none was opened
    std::size_t opened_values = 0;  ///< values of its step tables
    std::vector<KnobResult> knobs;
    std::vector<double> stalls;  ///< waits of the watchdog, ms
    int resizes = 0;
    long long steps = 0;       ///< trained meanwhile, of all runs
    bool all_trained = false;  ///< until the end
    std::map<std::string, SlowEvent> slow;
};

/// The value below which that share of the values is; NaN of none.
double percentile(std::vector<double> values, double share);

std::string asText(const BenchResult& result);
std::string asJson(const BenchResult& result);

}  // namespace normscope::app::bench
