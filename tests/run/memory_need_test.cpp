// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/memory_need.h"

#include "core/base/error.h"
#include "core/model/parameters.h"
#include "core/run/complete.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace normscope;

class MemoryNeedTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void parametersGradientsAndMoments() {
        Recipe recipe;
        complete_and_validate(recipe);
        const double count = static_cast<double>(ParameterTable(recipe.stack).size());
        QCOMPARE(memory_need(recipe, 1).parameters, 4 * (1 + 4 + 2) * count);
        recipe.train.precision = Precision::Fp64;
        recipe.train.optimizer.kind = OptimizerKind::Sgd;
        recipe.train.batch = 1;
        QCOMPARE(memory_need(recipe, 1).parameters, 8 * (1 + 1 + 1) * count);
    }

    /// Of a rank: of a batch's four shards its own, of the others' gradients its part of the arena, and with
    /// the optimizer in parts its part of the moments.
    void ofEachRank() {
        Recipe recipe;
        recipe.train.batch = 64;
        complete_and_validate(recipe);
        const double count = static_cast<double>(ParameterTable(recipe.stack).size());
        const auto of = [&](const RankShare& share) { return memory_need(recipe, 1, cpu_device(), share); };
        QCOMPARE(of({1, 1, false}).parameters, 4 * (1 + 4 + 2) * count);
        QCOMPARE(of({2, 2, false}).parameters, 4 * (1 + 2 + 2 / 2. + 2) * count);
        QCOMPARE(of({4, 1, false}).parameters, 4 * (1 + 1 + 3 / 4. + 2) * count);
        QCOMPARE(of({4, 1, true}).parameters, 4 * (1 + 1 + 3 / 4. + 2 / 4.) * count);
        QCOMPARE(of({4, 1, true}).activations, of({1, 1, false}).activations);
        QCOMPARE(memory_need(recipe, 4, cpu_device(), {2, 1, false}).activations,
                 2 * of({1, 1, false}).activations);
    }

    /// The ranks of a machine have its memory together.
    void ranksShareAMachine() {
        Recipe recipe;
        recipe.train.batch = 4;
        complete_and_validate(recipe);
        const double memory = static_cast<double>(cpu_device().memory().total);
        const auto total = [&](const RankShare& share) {
            return memory_need(recipe, 1, cpu_device(), share).total();
        };
        // As wide as three of four ranks may be.
        recipe.stack.d_model = 1024;
        while (3 * total({4, 4, false}) < memory) ++recipe.stack.depth;
        if (4 * total({4, 4, false}) <= memory) recipe.stack.depth += 1 + recipe.stack.depth / 2;
        require_device(recipe, 1, cpu_device(), RankShare{4, 1, false});
        try {
            require_device(recipe, 1, cpu_device(), RankShare{4, 4, false});
            QFAIL("four ranks of a third");
        } catch (const InputError& error) {
            const QString text = error.what();
            QVERIFY2(text.startsWith("--ranks: each of 4 ranks needs "), qPrintable(text));
            QVERIFY2(text.contains(", with --shard-optimizer ") == (4 * total({4, 4, true}) <= memory),
                     qPrintable(text));
            QVERIFY2(text.endsWith(", since 4 of them share a machine"), qPrintable(text));
        }
    }

    void activationsGrowWithTheContextAndTheThreads() {
        Recipe recipe;
        recipe.train.batch = 64;
        complete_and_validate(recipe);
        const double one = memory_need(recipe, 1).activations;
        QCOMPARE(memory_need(recipe, 2).activations, 2 * one);
        QCOMPARE(memory_need(recipe, 64).activations, 4 * one);  // four shards
        recipe.stack.context *= 2;
        QVERIFY(memory_need(recipe, 1).activations > 2.05 * one);  // probabilities grow with its square
        recipe.stack.context *= 16;
        QVERIFY(memory_need(recipe, 1).activations > 100 * one);
    }

    /// One copy of the weights, the shards' gradients, and a tape of every sequence.
    void evaluation() {
        Recipe recipe;
        complete_and_validate(recipe);
        const double count = static_cast<double>(ParameterTable(recipe.stack).size());
        const MemoryNeed two = evaluation_memory_need(recipe.stack, 2, 32, sizeof(double));
        QCOMPARE(two.parameters, 8 * (1 + 2) * count);
        QCOMPARE(evaluation_memory_need(recipe.stack, 6, 32, sizeof(double)).activations,
                 3 * two.activations);
        QVERIFY_EXCEPTION_THROWN(require_memory(evaluation_memory_need(recipe.stack, 1 << 30, 32, 8)),
                                 InputError);
    }

    void whatDoesNotFitIsRejectedWithBothNumbers() {
        Recipe recipe;
        recipe.stack.context = 1 << 18;  // few parameters, and probabilities of 1.1 TB a layer
        complete_and_validate(recipe);
        QVERIFY(memory_need(recipe, 1).parameters < 1e9);
        try {
            require_memory(recipe, 1);
            QFAIL("it fits");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).contains("activations") &&
                         QString(error.what()).contains("up to the machine's"),
                     error.what());
        }
        Recipe small;
        complete_and_validate(small);
        require_memory(small, 4);
    }

    void oneTextIsMadeOnceAndReadAgainWhenItsFileChanges() {
        QTemporaryDir folder;
        Recipe recipe;
        recipe.train.data.source = DataSource::Text;
        recipe.train.data.path = folder.filePath("a.txt").toStdString();
        const auto write = [&](int count) {
            std::ofstream(recipe.train.data.path) << std::string(count, 'x') << "yz";
        };
        write(5000);
        Corpora corpora;
        const auto first = complete_and_validate(recipe, &corpora);
        recipe.stack.depth = 3;
        QCOMPARE(complete_and_validate(recipe, &corpora), first);
        Recipe longer = recipe;
        longer.stack.context = 128;
        QVERIFY(complete_and_validate(longer, &corpora) != first);
        QCOMPARE(complete_and_validate(recipe, &corpora), first);
        write(6000);
        QVERIFY(complete_and_validate(recipe, &corpora) != first);
    }

    /// A file that changes inside a folder leaves the folder's own moment as it was.
    void imagesAreReadAgainWhenABatchChanges() {
        QTemporaryDir folder;
        Recipe recipe;
        recipe.stack.input = StackInput::Patches;
        recipe.train.data.source = DataSource::Cifar10;
        recipe.train.data.path = folder.path().toStdString();
        const auto write = [&](const char* name, int images) {
            std::ofstream(folder.filePath(name).toStdString(), std::ios::binary)
                << std::string(static_cast<std::size_t>(images) * 3073, '\1');
        };
        write("data_batch_1.bin", 4);
        write("test_batch.bin", 2);
        Corpora corpora;
        const auto first = complete_and_validate(recipe, &corpora);
        QCOMPARE(complete_and_validate(recipe, &corpora), first);
        write("data_batch_1.bin", 5);
        const auto second = complete_and_validate(recipe, &corpora);
        QVERIFY(second != first);
        write("data_batch_3.bin", 1);
        QVERIFY(complete_and_validate(recipe, &corpora) != second);
    }
};

NORMSCOPE_TEST(MemoryNeedTest)
#include "memory_need_test.moc"
