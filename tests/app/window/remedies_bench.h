// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/findings/findings_band.h"
#include "widgets/findings/remedy_box.h"
#include "window_bench.h"

namespace normscope::test {

/// Waits until every remedy of the shown run has its draft.
inline void drafted(WindowBench& b) {
    QTRY_VERIFY_WITH_TIMEOUT(b.lab().remedies().trials() && b.lab().remedies().trials()->done(), 60000);
}

inline widgets::RemedyBox* box(const WindowBench& b) {
    return b.find<widgets::FindingsBand>("findingsBand")->remedies();
}

}  // namespace normscope::test
