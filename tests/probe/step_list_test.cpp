// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/step_list.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class StepListTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void statesWhatItHolds() {
        const StepList list = StepList::parse("0:49,50:190:20,199", "t");
        std::vector<std::int64_t> steps;
        for (std::int64_t step = 0; step < 300; ++step)
            if (list.contains(step)) steps.push_back(step);
        std::vector<std::int64_t> wanted;
        for (std::int64_t step = 0; step < 50; ++step) wanted.push_back(step);
        for (std::int64_t step : {50, 70, 90, 110, 130, 150, 170, 190, 199}) wanted.push_back(step);
        QCOMPARE(steps, wanted);
        QCOMPARE(list.text(), std::string("0:49,50:190:20,199"));
    }

    void countsAnInterval() {
        const StepList list = StepList::parse("0:49,50:190:20,199", "t");
        for (std::int64_t from = 0; from < 210; from += 7)
            for (std::int64_t to = from; to < 210; to += 3) {
                std::int64_t steps = 0;
                for (std::int64_t step = from; step <= to; ++step) steps += list.contains(step);
                QCOMPARE(list.count(from, to), steps);
            }
        QCOMPARE(StepList::parse("0:1000000000:2", "t").count(0, 1'000'000'000), std::int64_t{500'000'001});
    }

    void endsWhereItsStrideLeads() {
        QCOMPARE(StepList::parse("0:10:4", "t").text(), std::string("0:8:4"));
        QCOMPARE(StepList::parse("3:5:4", "t").text(), std::string("3"));
    }

    void rejectsWhatIsNone_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"", "a", "1:", "1:2:", "5:4", "1:9:0", "-1", "3,3", "4,2", "0:9,9", "1,",
                                 ",1", "1:2:3:4", "1 2"})
            QTest::newRow(text) << text;
    }
    void rejectsWhatIsNone() {
        QFETCH(QString, text);
        try {
            StepList::parse(text.toStdString(), "probes[0].steps");
            QFAIL("no error");
        } catch (const InputError& error) {
            QVERIFY2(QString::fromUtf8(error.what()).startsWith("probes[0].steps: "), error.what());
        }
    }
};

NORMSCOPE_TEST(StepListTest)
#include "step_list_test.moc"
