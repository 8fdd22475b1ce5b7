// SPDX-License-Identifier: GPL-3.0-or-later
// What the stories state holds for other seeds than the one that they are written for.
#include "tests/run/story_walk.h"
#include "tests/support/test_main.h"

using namespace normscope;

class StorySeedsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Of a story that pauses also with other pauses: the user presses earlier or later.
    void everyStoryHolds_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("seed");
        QTest::addColumn<int>("shift");
        const auto row = [](const QString& name, int seed, int shift) {
            QTest::addRow("%s, seed %d, %d steps later", qPrintable(name), seed, shift)
                << name << seed << shift;
        };
        for (const Preset& file : stories())
            for (const int seed : {43, 44}) row(file.name, seed, 0);
        row("turn-it-down", 45, -5);
        row("turn-it-down", 46, 40);
        row("turn-it-down", 47, 40);
    }
    void everyStoryHolds() {
        QFETCH(QString, name);
        QFETCH(int, seed);
        QFETCH(int, shift);
        test::walk_a_story(name.toStdString(), seed, shift);
    }
};

NORMSCOPE_TEST(StorySeedsTest)
#include "story_seeds_test.moc"
