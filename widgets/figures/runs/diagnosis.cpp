// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/diagnosis.h"

#include "core/findings/findings.h"

namespace normscope::widgets {

QStringList diagnose(const RunData& run, std::int64_t step) {
    QStringList sentences;
    for (const Finding& finding : findings(run, step)) sentences << QString::fromStdString(finding.text);
    return sentences;
}

}  // namespace normscope::widgets
