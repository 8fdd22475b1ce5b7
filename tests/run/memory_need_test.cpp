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
