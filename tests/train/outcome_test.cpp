// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/outcome.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <set>

using namespace normscope;

class TestOutcome : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyStateHasItsOwnWord() {
        std::set<std::string> words;
        for (int i = 0; i <= static_cast<int>(RunState::Failed); ++i) {
            const auto state = static_cast<RunState>(i);
            const std::string word = run_state_word(state);
            QVERIFY(word.size() <= 16);  // the file keeps 16 bytes
            QVERIFY(words.insert(word).second);
            QCOMPARE(run_state_from_word(word), state);
        }
        QCOMPARE(run_state_word(RunState::Diverged), "diverged");
        QCOMPARE(run_state_word(RunState::Collapsed), "collapsed");
        QCOMPARE(run_state_word(RunState::Failed), "failed");
    }

    void unknownWordIsRejected() {
        try {
            run_state_from_word("melted");
            QFAIL("accepted");
        } catch (const InputError& error) {
            const std::string text = error.what();
            QVERIFY(text.find("melted") != std::string::npos);
            QVERIFY(text.find("interrupted") != std::string::npos);
        }
    }
};

NORMSCOPE_TEST(TestOutcome)
#include "outcome_test.moc"
