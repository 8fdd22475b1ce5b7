// SPDX-License-Identifier: GPL-3.0-or-later
// What the stories state holds for other seeds than the one that they are written for.
#include "tests/run/story_walk.h"
#include "tests/support/test_main.h"

using namespace normscope;

class StorySeedsTest : public QObject {
    Q_OBJECT

    /// For a story that pauses also other pauses: the user presses earlier or later.
    static void seeds(bool pauses) {
        QTest::addColumn<int>("seed");
        QTest::addColumn<int>("shift");
        const auto row = [](int seed, int shift) {
            QTest::addRow("seed %d, %d steps later", seed, shift) << seed << shift;
        };
        for (const int seed : {43, 44}) row(seed, 0);
        if (!pauses) return;
        row(45, -5);
        row(46, 40);
        row(47, 40);
    }
    static void walks(const char* name) {
        QFETCH(int, seed);
        QFETCH(int, shift);
        test::walk_a_story(name, seed, shift);
    }

  private Q_SLOTS:
    void theCollapseOfPostLnHolds_data() { seeds(false); }
    void theCollapseOfPostLnHolds() { walks("collapse-of-post-ln"); }
    void theInitialisationDecidesHolds_data() { seeds(false); }
    void theInitialisationDecidesHolds() { walks("initialisation-decides"); }
    void turningTheStepDownHolds_data() { seeds(true); }
    void turningTheStepDownHolds() { walks("turn-it-down"); }
};

NORMSCOPE_TEST(StorySeedsTest)
#include "story_seeds_test.moc"
