// SPDX-License-Identifier: GPL-3.0-or-later
// Shards: as they are written, and as a launcher assigns them.
#include "core/sweep/sweep_shard.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "tests/sweep/rejected.h"

#include <QMap>
#include <QTemporaryDir>
#include <QtTest>
#include <string>

using namespace normscope;
using test::rejected;

class SweepShardTest : public QObject {
    Q_OBJECT

    using Variables = QMap<QByteArray, QByteArray>;

    static SweepShard launched(const Variables& variables) {
        return launched_shard([&](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->constData();
        });
    }

  private Q_SLOTS:
    void written() {
        const SweepShard shard = parse_shard("2/3");
        QVERIFY(!shard.has(0) && shard.has(1) && !shard.has(2) && shard.has(4));
        QVERIFY(parse_shard("1/1").has(0));
        for (const char* text : {"0/3", "4/3", "1", "1/", "/3", "1/0", "a/b", "1/3x", "-1/3", "1.5/3"})
            QVERIFY2(rejected([&] { parse_shard(text); }).startsWith("--shard: "), text);
    }

    void assigned_data() {
        QTest::addColumn<Variables>("variables");
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("count");
        const Variables array{{"SLURM_ARRAY_TASK_ID", "3"},
                              {"SLURM_ARRAY_TASK_MIN", "1"},
                              {"SLURM_ARRAY_TASK_MAX", "8"},
                              {"SLURM_ARRAY_TASK_COUNT", "8"},
                              {"SLURM_ARRAY_TASK_STEP", "1"}};
        QTest::newRow("Slurm array") << array << 3 << 8;
        Variables batch = array;  // each task of an array is a job of one process, which has its own rank
        batch.insert(Variables{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}});
        QTest::newRow("Slurm array, in a step") << batch << 3 << 8;
        QTest::newRow("Slurm array from 0 by 2") << Variables{{"SLURM_ARRAY_TASK_ID", "4"},
                                                              {"SLURM_ARRAY_TASK_MIN", "0"},
                                                              {"SLURM_ARRAY_TASK_MAX", "6"},
                                                              {"SLURM_ARRAY_TASK_COUNT", "4"},
                                                              {"SLURM_ARRAY_TASK_STEP", "2"}}
                                                 << 3 << 4;
        QTest::newRow("Open MPI") << Variables{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}
                                  << 1 << 4;
        QTest::newRow("PMI") << Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}} << 4 << 4;
        QTest::newRow("Slurm step") << Variables{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}} << 2
                                    << 2;
    }
    void assigned() {
        QFETCH(Variables, variables);
        QFETCH(int, index);
        QFETCH(int, count);
        const SweepShard shard = launched(variables);
        QCOMPARE(shard.index, static_cast<std::size_t>(index));
        QCOMPARE(shard.count, static_cast<std::size_t>(count));
    }

    void notAssigned_data() {
        QTest::addColumn<Variables>("variables");
        QTest::addColumn<QString>("words");
        QTest::newRow("none") << Variables{} << "no launcher has set a rank";
        QTest::newRow("a batch script is no step") << Variables{{"SLURM_PROCID", "0"}} << "no launcher";
        QTest::newRow("no number") << Variables{{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}
                                   << "PMI_RANK: \"x\" is no number";
        QTest::newRow("above the size")
            << Variables{{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}} << "PMI_RANK: 2 is not below PMI_SIZE, 2";
        QTest::newRow("gaps") << Variables{{"SLURM_ARRAY_TASK_ID", "5"},
                                           {"SLURM_ARRAY_TASK_MIN", "1"},
                                           {"SLURM_ARRAY_TASK_MAX", "9"},
                                           {"SLURM_ARRAY_TASK_COUNT", "3"}}
                              << "has gaps";
    }
    void notAssigned() {
        QFETCH(Variables, variables);
        QFETCH(QString, words);
        const QString text = rejected([&] { launched(variables); });
        QVERIFY2(text.startsWith("--shard auto") && text.contains(words) && text.contains("allowed"),
                 qPrintable(text));
    }

    void foldersOfShards() {
        const QTemporaryDir folder;
        const auto in = [&](const char* name) { return folder.filePath(name).toStdString(); };
        const std::string out = folder.path().toStdString();
        QCOMPARE(sweep_folders(out), std::vector{out});  // an empty folder is named in the error
        for (const SweepShard shard : {SweepShard{2, 2}, SweepShard{1, 2}}) {
            const QString made = QString::fromStdString(shard_folder(out, shard));
            QVERIFY(QDir().mkpath(made));
            QFile file(made + "/sweep.json");
            QVERIFY(file.open(QIODevice::WriteOnly));
        }
        QVERIFY(QDir().mkpath(folder.filePath("shard-begun")) && QDir().mkpath(folder.filePath("all")));
        QCOMPARE(sweep_folders(out), (std::vector{in("shard-1-of-2"), in("shard-2-of-2")}));
        QFile whole(folder.filePath("sweep.json"));
        QVERIFY(whole.open(QIODevice::WriteOnly));
        QCOMPARE(sweep_folders(out), std::vector{out});
    }
};

NORMSCOPE_TEST(SweepShardTest)
#include "sweep_shard_test.moc"
