// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/ui/bench_report.h"

#include <QString>

namespace normscope::app::bench {

class MeasuredApplication;

/// `normscope --bench-ui`
struct BenchOrder {
    double seconds = 10;                      ///< of each knob, and of the training
    int stall_ms = 50;                        ///< of the interface thread, which the measurement must show
    int threads = 0;                          ///< of the engine; 0: as in the window
    QString session = {};                     ///< opened first, and how long that takes; empty: none
    QString backend = QStringLiteral("cpu");  ///< the device of trainings; ssh://host: the engine is there
};

/// Measures the interface in a window of 1440 × 900 with the default comparison and panels: first whether a
/// stall is seen, then how fast 48 curves of 1,000 points are
/// redrawn, then moves of the mouse at 60 Hz on five knobs, then stalls while all runs train and the
/// window is resized. Settings and recordings are in a temporary folder. Runs the event loop.
BenchResult benchInterface(MeasuredApplication& application, const BenchOrder& order);

}  // namespace normscope::app::bench
