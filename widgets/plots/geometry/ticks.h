// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <QString>
#include <vector>

namespace normscope::widgets {

/// A tick in data coordinates. Minor ticks have no label.
struct Tick {
    double value = 0;
    QString label;
    bool minor = false;
};

/// 4 to `most` (≤ 8) labelled nice ticks inside [low, high]: multiples of 1, 2, 5 × 10^k on a linear axis;
/// decades, then 1–3, then 1–2–5, then linear steps on a log axis as the range shrinks; zero and powers of
/// two on Log1p (the powers without a label get minor ticks). Fewer where `most` < 4 or where whole numbers
/// leave no choice. A log axis also gets minor ticks at the whole multiples of its decades while they are
/// few. Requires isUsable() of the range.
std::vector<Tick> niceTicks(double low, double high, Scale scale, bool integers = false, int most = 8);

}  // namespace normscope::widgets
