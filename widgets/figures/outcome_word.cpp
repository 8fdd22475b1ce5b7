// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/outcome_word.h"

#include <QCoreApplication>

namespace normscope::widgets {

QString outcomeWord(RunState state) {
    const auto word = [](const char* text) { return QCoreApplication::translate("Outcome", text); };
    switch (state) {
        case RunState::Prepared:
            return word(QT_TRANSLATE_NOOP("Outcome", "ready"));
        case RunState::Running:
            break;
        case RunState::Paused:
            return word(QT_TRANSLATE_NOOP("Outcome", "paused"));
        case RunState::Finished:
            return word(QT_TRANSLATE_NOOP("Outcome", "finished"));
        case RunState::Diverged:
            return word(QT_TRANSLATE_NOOP("Outcome", "diverged"));
        case RunState::Collapsed:
            return word(QT_TRANSLATE_NOOP("Outcome", "collapsed"));
        case RunState::Stalled:
            return word(QT_TRANSLATE_NOOP("Outcome", "stalled"));
        case RunState::Interrupted:
            return word(QT_TRANSLATE_NOOP("Outcome", "interrupted"));
        case RunState::Failed:
            return word(QT_TRANSLATE_NOOP("Outcome", "failed"));
    }
    return word(QT_TRANSLATE_NOOP("Outcome", "running"));
}

}  // namespace normscope::widgets
