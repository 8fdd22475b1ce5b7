// SPDX-License-Identifier: GPL-3.0-or-later
// Real runs, recorded by tests/verdicts/run, against the word that the eye gives to their curves.
#include "core/train/verdict.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QtTest>
#include <map>

using namespace normscope;

class VerdictTableTest : public QObject {
    Q_OBJECT

    static std::vector<double> numbers(const QByteArray& line) {
        std::vector<double> values;
        for (const QByteArray& word : line.trimmed().split(' '))
            values.push_back(word == "nan" ? NAN : word.toDouble());
        return values;
    }

    /// How the run ends that the series are of; it resumes from a stored state before step `cut`.
    static Outcome verdict_of(const QList<QByteArray>& head, const std::vector<double>& loss,
                              const std::vector<double>& ratio, std::size_t cut) {
        const auto make = [&] {
            return Verdict(head[2].toDouble(), head[3].toDouble(), head[4].toLongLong());
        };
        Verdict verdict = make();
        for (std::size_t s = 0; s < loss.size(); ++s) {
            if (s == cut) {
                const auto state = verdict.state();
                verdict = make();
                verdict.restore(state);
            }
            if (const auto outcome = verdict.add(static_cast<std::int64_t>(s), loss[s], ratio[s]))
                return *outcome;
        }
        return verdict.at_end(static_cast<std::int64_t>(loss.size()) - 1);
    }

  private Q_SLOTS:
    void everyRunIsCalledWhatItIs() {
        QFile file(QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/verdicts/runs.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::map<QByteArray, int> words;
        int rows = 0;
        while (!file.atEnd()) {
            QList<QByteArray> head = file.readLine().trimmed().split('|');
            for (QByteArray& part : head) part = part.trimmed();
            QCOMPARE(head.size(), 5);
            const auto loss = numbers(file.readLine()), ratio = numbers(file.readLine());
            QVERIFY(!loss.empty() && ratio.size() == loss.size());
            const Outcome outcome = verdict_of(head, loss, ratio, loss.size());
            const QByteArray found =
                head[0] + ": " + run_state_word(outcome.state) + " (" + outcome.text.c_str() + ")";
            QVERIFY2(run_state_word(outcome.state) == head[1], (found + ", expected " + head[1]).constData());
            const Outcome resumed = verdict_of(head, loss, ratio, loss.size() / 2);
            QCOMPARE(resumed.text, outcome.text);
            ++words[head[1]];
            ++rows;
        }
        QVERIFY2(rows >= 40, qPrintable(QString::number(rows)));
        for (const char* word : {"finished", "stalled", "collapsed", "diverged"})
            QVERIFY2(words[word] > 0, word);
    }
};

NORMSCOPE_TEST(VerdictTableTest)
#include "verdict_table_test.moc"
