// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/findings/findings_band.h"
#include "widgets/findings/remedy_box.h"
#include "widgets/findings/remedy_button.h"
#include "window_bench.h"

#include <algorithm>

namespace normscope::test {

/// Waits until every remedy of the shown run has its draft.
inline void drafted(WindowBench& b) {
    QTRY_VERIFY_WITH_TIMEOUT(b.lab().remedies().trials() && b.lab().remedies().trials()->done(), 60000);
}

inline widgets::RemedyBox* box(const WindowBench& b) {
    return b.find<widgets::FindingsBand>("findingsBand")->remedies();
}

/// Waits until the band, which follows the drafts at most five times a second, shows the chosen remedies: as
/// long as drafts are made there may be as many buttons, of other remedies.
inline void buttonsFollowed(WindowBench& b) {
    const auto same = [&b] {
        const app::RemedyTrials& trials = *b.lab().remedies().trials();
        const auto shown = trials.shown();
        const auto buttons = box(b)->buttons();
        return box(b)->isVisible() &&
               std::equal(buttons.begin(), buttons.end(), shown.begin(), shown.end(),
                          [&](const widgets::RemedyButton* button, std::size_t i) {
                              return button->text() == QString::fromStdString(trials.remedies[i].name);
                          });
    };
    QTRY_VERIFY(same());
}

}  // namespace normscope::test
