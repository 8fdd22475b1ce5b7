// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/test_main.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"

#include <QSignalSpy>

namespace normscope::test {

using namespace widgets;

/// Arguments of the panel's signals.
inline KeyRef keyOf(const QVariant& argument) {
    return *static_cast<const KeyRef*>(argument.constData());
}
inline FieldValue valueOf(const QVariant& argument) {
    return *static_cast<const FieldValue*>(argument.constData());
}

/// These recipes side by side, as runs A, B, …; the knobs show the one at `selected`.
inline std::vector<ComparedRun> sideBySide(const std::vector<Recipe>& recipes, int selected = 0) {
    std::vector<ComparedRun> runs;
    for (const Recipe& recipe : recipes) {
        const int i = static_cast<int>(runs.size());
        runs.push_back({i, i, QString(QChar(u'A' + i)), {recipe}, i == selected});
    }
    return runs;
}

/// A panel on screen, with what it emits.
struct KnobPanelBench {
    KnobPanel panel;
    QSignalSpy changing{&panel, &KnobPanel::keyChanging};
    QSignalSpy committed{&panel, &KnobPanel::keyCommitted};
    QSignalSpy started{&panel, &KnobPanel::keyDragStarted};
    KnobPanelBench() {
        panel.resize(268, 700);
        panel.show();
        QVERIFY(QTest::qWaitForWindowActive(&panel));
    }
    Knob* number(const char* key) { return qobject_cast<Knob*>(panel.row(QString::fromUtf8(key))); }
    ChoiceKnob* choice(const char* key) {
        return qobject_cast<ChoiceKnob*>(panel.row(QString::fromUtf8(key)));
    }
};

}  // namespace normscope::test
