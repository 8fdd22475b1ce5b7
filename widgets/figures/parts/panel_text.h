// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/number_text.h"

#include <QString>
#include <cmath>

namespace normscope::widgets {

/// A number in short form for chips and sentences: "4.2e-9", "0.71", "3e9".
inline QString brief(double value) {
    return numberText(value, 2);
}

/// A loss in nat with two decimals while it has the size of one that did not blow up.
inline QString lossText(double loss) {
    return std::abs(loss) < 100 ? QString::number(loss, 'f', 2) : numberText(loss, 3);
}

inline QString nameOf(const RunData& run) {
    return QString::fromStdString(run.name);
}

}  // namespace normscope::widgets
