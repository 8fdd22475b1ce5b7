// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include <QtTest>
#include <cmath>

#include "core/train/first_bad.h"

using namespace normscope;

namespace {

StackSpec small_stack() {
    StackSpec s;
    s.depth = 2;
    s.d_model = 16;
    s.heads = 2;
    s.context = 8;
    return s;
}

template <class T>
std::unique_ptr<Trainer<T>> small_trainer(int steps, StackSpec stack = small_stack(), TrainSpec train = {}) {
    train.steps = steps;
    train.batch = 5;  // does not divide into equal shards
    std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack.context);
    complete(stack, corpus->vocab());
    return std::make_unique<Trainer<T>>(stack, train, corpus);
}

}  // namespace

class TrainerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void learns() {
        ThreadPool pool(1);
        auto trainer = small_trainer<float>(60);
        double first = 0, last = 0;
        while (!trainer->ended()) {
            const auto now = trainer->step(pool);
            if (now.step == 0) first = now.loss;
            last = now.loss;
        }
        QCOMPARE(trainer->outcome().state, RunState::Finished);
        QVERIFY2(last < first - 0.5, qPrintable(QString("%1 -> %2").arg(first).arg(last)));
    }

    void oneOrThreeThreadsSameBits() {
        ThreadPool one(1), three(3);
        auto a = small_trainer<float>(8), b = small_trainer<float>(8);
        for (int i = 0; i < 8; ++i) QCOMPARE(a->step(one).loss, b->step(three).loss);
        QVERIFY(std::equal(a->model().parameters().begin(), a->model().parameters().end(), b->model().parameters().begin()));
    }

    void restoringContinuesBitForBit() {
        ThreadPool pool(2);
        auto whole = small_trainer<float>(12), cut = small_trainer<float>(12);
        for (int i = 0; i < 5; ++i) whole->step(pool), cut->step(pool);
        const auto state = cut->save();
        auto resumed = small_trainer<float>(12);
        resumed->restore(state);
        while (!whole->ended()) QCOMPARE(resumed->step(pool).loss, whole->step(pool).loss);
        QCOMPARE(resumed->outcome().state, whole->outcome().state);
    }

    void accumulationEqualsOneBatchInFloat64() {
        ThreadPool pool(1);
        TrainSpec split;
        split.accumulate = 2;
        auto together = small_trainer<double>(3);
        // The same ten sequences a step, once as one batch, once as two micro-batches of five.
        TrainSpec wide;
        wide.steps = 3;
        wide.batch = 10;
        StackSpec stack = small_stack();
        std::shared_ptr<const Corpus> corpus = make_corpus(wide.data, stack.context);
        complete(stack, corpus->vocab());
        Trainer<double> one(stack, wide, corpus);
        auto two = small_trainer<double>(3, small_stack(), split);
        for (int i = 0; i < 3; ++i) {
            const auto a = one.step(pool), b = two->step(pool);
            QVERIFY(std::abs(a.loss - b.loss) < 1e-12);
            QVERIFY(std::abs(a.grad_norm - b.grad_norm) < 1e-11);
        }
    }

    /// A value that is not finite ends the run, names where it arose, and leaves the last good parameters.
    void aNonFiniteValueIsNamed() {
        ThreadPool pool(1);
        StackSpec stack = small_stack();
        stack.scheme = Scheme::None;
        stack.residual_step = 1e30;
        auto trainer = small_trainer<float>(5, stack);
        trainer->step(pool);
        QCOMPARE(trainer->outcome().state, RunState::Diverged);
        const QString text = QString::fromStdString(trainer->outcome().text);
        QVERIFY2(text.startsWith("step 0 · L") && (text.endsWith("inf") || text.endsWith("nan")), qPrintable(text));
        QVERIFY(trainer->outcome().layer >= 0);
        for (float p : trainer->model().parameters()) QVERIFY(std::isfinite(p));
    }

    void hotKnobsActAtTheNextStep() {
        ThreadPool pool(1);
        auto a = small_trainer<float>(6), b = small_trainer<float>(6);
        a->step(pool), b->step(pool);
        auto knobs = b->knobs();
        knobs.residual_step = 0.1;
        b->set_knobs(knobs);
        QVERIFY(a->step(pool).loss != b->step(pool).loss);
        QCOMPARE(b->model().numerics.residual_step, 0.1);
    }

    void clipFactorIsPyTorchs() {
        QCOMPARE(clip_factor(0.5, 1), 1.0);
        QCOMPARE(clip_factor(4, 1), 1 / (4 + 1e-6));
        QCOMPARE(clip_factor(4, 0), 1.0);
    }
};

QTEST_GUILESS_MAIN(TrainerTest)
#include "trainer_test.moc"
