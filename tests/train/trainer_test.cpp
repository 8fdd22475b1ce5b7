// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include "core/train/first_bad.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

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
    std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
    complete(stack, corpus->vocab());
    return std::make_unique<Trainer<T>>(stack, train, corpus);
}

}  // namespace

class TrainerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void learns() {
        ThreadPool pool(1);
        auto trainer = small_trainer<float>(200);
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
        QVERIFY(std::equal(a->model().parameters().begin(), a->model().parameters().end(),
                           b->model().parameters().begin()));
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
        std::shared_ptr<const Corpus> corpus = make_corpus(wide.data, stack);
        complete(stack, corpus->vocab());
        Trainer<double> one(stack, wide, corpus);
        auto two = small_trainer<double>(3, small_stack(), split);
        for (int i = 0; i < 3; ++i) {
            const auto a = one.step(pool), b = two->step(pool);
            QVERIFY(std::abs(a.loss - b.loss) < 1e-12);
            QVERIFY(std::abs(a.grad_norm - b.grad_norm) < 1e-11);
        }
    }

    /// The mean over 64 sequences that neither training nor the probes have, the same for every batch size
    /// and also where it does not divide 64, with its standard error; at the last step too.
    void theHeldOutLossIsTheMeanOf64Sequences() {
        QCOMPARE(kHeldOutSequences, 64);
        ThreadPool pool(2);
        const auto trained = [&](int batch, std::int64_t every) {
            TrainSpec train;
            train.steps = 4;
            train.batch = batch;
            train.validate_every = static_cast<int>(every);
            StackSpec stack = small_stack();
            std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
            complete(stack, corpus->vocab());
            return std::make_unique<Trainer<double>>(stack, train, corpus);
        };
        const auto trainer = trained(5, 2);
        const std::unique_ptr<const Corpus> corpus = make_corpus({}, small_stack());
        const Batch all = corpus->held_out_batch(TrainSpec{}.seed, 1, 64, small_stack().context);
        const Batch probed = trainer->probe_batch(8, small_stack().context);
        for (std::int64_t step = 0; step < 4; ++step) {
            // Each sequence by itself.
            std::vector<double> losses;
            for (std::size_t i = 0; i < 64; ++i) {
                const std::size_t first = i * 8;
                Batch one{1, 8, {}, {}};
                for (std::size_t t = first; t < first + 8; ++t) {
                    one.tokens.push_back(all.tokens[t]);
                    one.targets.push_back(all.targets[t]);
                }
                QVERIFY(!std::equal(one.tokens.begin(), one.tokens.end(), probed.tokens.begin()));
                Tape<double> tape;
                trainer->model().forward(one, tape, pool);
                losses.push_back(tape.mean_loss());
            }
            double mean = 0, squares = 0;
            for (const double loss : losses) mean += loss / 64;
            for (const double loss : losses) squares += (loss - mean) * (loss - mean);
            const StepNumbers now = trainer->step(pool);
            QCOMPARE(std::isnan(now.val_loss), step == 1);
            QCOMPARE(std::isnan(now.val_loss_error), step == 1);
            if (step == 1) continue;
            QVERIFY2(std::abs(now.val_loss - mean) < 1e-13, qPrintable(QString::number(now.val_loss - mean)));
            QVERIFY(std::abs(now.val_loss_error - std::sqrt(squares / 63 / 64)) < 1e-13);
            for (const int batch : {1, 64, 100})
                if (step == 0) QVERIFY(std::abs(trained(batch, 2)->step(pool).val_loss - mean) < 1e-13);
        }
        QVERIFY(trainer->ended());
        QVERIFY(std::isnan(trained(5, 0)->step(pool).val_loss));
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
        QVERIFY2(text.startsWith("step 0 · layer ") && (text.endsWith("inf") || text.endsWith("nan")),
                 qPrintable(text));
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

    void everyOptimizerAndPrecision_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("precision");
        for (OptimizerKind kind :
             {OptimizerKind::AdamW, OptimizerKind::Adam, OptimizerKind::Sgd, OptimizerKind::Muon})
            for (Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp16})
                QTest::addRow("%s %s", word_of(kind), word_of(precision))
                    << static_cast<int>(kind) << static_cast<int>(precision);
    }
    /// Learns, gives the same bits on any number of threads, and resumes bit for bit from a saved state.
    void everyOptimizerAndPrecision() {
        QFETCH(int, kind);
        QFETCH(int, precision);
        TrainSpec train;
        train.optimizer.kind = static_cast<OptimizerKind>(kind);
        train.precision = static_cast<Precision>(precision);
        if (train.optimizer.kind == OptimizerKind::Sgd) train.optimizer.lr = 0.1;
        train.optimizer.weight_decay = 0.01;
        const auto make = [&] { return small_trainer<float>(60, small_stack(), train); };
        ThreadPool one(1), three(3);
        auto whole = make(), cut = make(), resumed = make();
        for (int i = 0; i < 5; ++i) QCOMPARE(cut->step(three).loss, whole->step(one).loss);
        resumed->restore(cut->save());
        double loss = 0;
        while (!whole->ended()) {
            loss = whole->step(one).loss;
            QCOMPARE(resumed->step(three).loss, loss);
        }
        QVERIFY(whole->outcome().state != RunState::Diverged);
        QCOMPARE(resumed->outcome().state, whole->outcome().state);
        QCOMPARE(resumed->outcome().text, whole->outcome().text);
        QVERIFY2(loss < 3.1, qPrintable(QString::number(loss)));
        const auto state = whole->save(), other = resumed->save();
        QCOMPARE(state.parameters, other.parameters);
        QCOMPARE(state.moment1, other.moment1);
        QCOMPARE(state.moment2, other.moment2);
        QVERIFY(state.loss_scale == other.loss_scale);
    }

    /// What passes see is the master copy rounded, gates excepted; what is saved is the master copy.
    void masterCopyAndItsRounding() {
        ThreadPool pool(1);
        StackSpec stack = small_stack();
        stack.gpas.enabled = true;
        for (Precision precision : {Precision::Bf16, Precision::Fp16}) {
            TrainSpec train;
            train.precision = precision;
            const Rounding rounding = precision == Precision::Bf16 ? Rounding::Bf16 : Rounding::Fp16;
            auto trainer = small_trainer<float>(4, stack, train);
            for (int i = 0; i < 4; ++i) {
                const auto master = trainer->save().parameters;
                int moved = 0, gates = 0;
                for (const TensorInfo& t : trainer->model().table().tensors())
                    for (std::size_t k = t.offset; k < t.offset + t.count; ++k) {
                        const float seen = trainer->model().parameters()[k];
                        QCOMPARE(seen, t.is_gate() ? master[k] : rounded(rounding, master[k]));
                        moved += seen != master[k];
                        gates += t.is_gate();
                    }
                QVERIFY(moved > 0);
                QCOMPARE(gates, 2);
                trainer->step(pool);
            }
        }
    }

    /// The scale is taken out of the gradient again before it is clipped and used.
    void theLossScaleLeavesNoTrace() {
        ThreadPool pool(1);
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto exact = small_trainer<float>(3), low = small_trainer<float>(3, small_stack(), train);
        const auto wanted = exact->step(pool), got = low->step(pool);
        QCOMPARE(wanted.loss_scale, 1.0);
        QCOMPARE(got.loss_scale, 65536.0);
        QVERIFY(!got.overflowed);
        QVERIFY(std::abs(got.grad_norm / wanted.grad_norm - 1) < 1e-2);
        QVERIFY(std::abs(got.gradient_ratio / wanted.gradient_ratio - 1) < 1e-2);
    }

    /// Frozen gates have gradients that neither clipping nor the recorded norm sees, in FP16 as in float32.
    void frozenGatesAreNotInTheNormOfFp16() {
        ThreadPool pool(1);
        StackSpec frozen = small_stack();
        frozen.depth = 24;
        frozen.scheme = Scheme::Peri;
        frozen.gpas.enabled = true;
        frozen.gpas.activation = GateActivation::Identity;
        frozen.gpas.learnable = false;
        StackSpec learned = frozen;
        learned.gpas.learnable = true;
        TrainSpec half;
        half.precision = Precision::Fp16;
        const double wanted = small_trainer<float>(1, frozen)->step(pool).grad_norm;
        const double with_gates = small_trainer<float>(1, learned)->step(pool).grad_norm;
        QVERIFY(with_gates > 1.03 * wanted);
        const double got = small_trainer<float>(1, frozen, half)->step(pool).grad_norm;
        QVERIFY2(std::abs(got / wanted - 1) < 0.01,
                 qPrintable(QString("%1 %2 %3").arg(wanted).arg(got).arg(with_gates)));
    }

    /// γ of norms without affine parameters has a gradient that moves nothing and is in no norm.
    void fixedGainsStay() {
        ThreadPool pool(1);
        StackSpec spec = small_stack();
        spec.norm.affine = false;
        const auto trainer = small_trainer<float>(5, spec);
        while (!trainer->ended()) trainer->step(pool);
        const HostView<float> weights = trainer->model().host_parameters();
        int gains = 0;
        for (const TensorInfo& t : trainer->model().table().tensors()) {
            QVERIFY(t.name.find("norm") == std::string::npos || !t.name.ends_with(".bias"));
            if (t.name.find("norm") == std::string::npos) continue;
            ++gains;
            for (std::size_t i = 0; i < t.count; ++i) QCOMPARE(weights[t.offset + i], 1.0f);
        }
        QVERIFY(gains > 0);
    }

    /// A scale that is too large overflows: nothing moves, the scale is halved, the run continues.
    void anOverflowSkipsTheUpdate() {
        ThreadPool pool(1);
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto trainer = small_trainer<float>(30, small_stack(), train);
        auto state = trainer->save();
        state.loss_scale = {0x1p30, 1500};
        trainer->restore(state);
        int overflows = 0;
        for (; overflows < 30; ++overflows) {
            const auto before = trainer->save();
            const auto now = trainer->step(pool);
            QCOMPARE(now.step, overflows);
            QCOMPARE(now.loss_scale, std::ldexp(1.0, 30 - overflows));
            const auto after = trainer->save();
            if (!now.overflowed) break;
            QVERIFY(!std::isfinite(now.grad_norm) && std::isfinite(now.loss));
            QCOMPARE(after.parameters, before.parameters);
            QCOMPARE(after.moment1, before.moment1);
            QCOMPARE(after.optimizer_steps, 0);
            QCOMPARE(after.loss_scale.scale, before.loss_scale.scale / 2);
            QCOMPARE(after.loss_scale.good_steps, 0);
            QVERIFY(!trainer->ended());
        }
        QVERIFY2(overflows > 3 && overflows < 30, qPrintable(QString::number(overflows)));
        QCOMPARE(trainer->save().optimizer_steps, 1);
    }

    /// After a matrix of zeros large activations make the matrix's own gradient large, and no other.
    void theFirstTensorThatOverflowsIsNamed_data() {
        QTest::addColumn<QStringList>("matrices");
        QTest::addColumn<QString>("place");
        const auto row = [](const QStringList& matrices, const char* place) {
            QTest::newRow(qPrintable(matrices.join(' '))) << matrices << QString(place);
        };
        row({"blocks.1.ffn.w2"}, "layer 2 ffn.w2");
        row({"blocks.0.ffn.w2"}, "layer 1 ffn.w2");
        row({"blocks.0.attn.wo"}, "layer 1 attn.wo");
        row({"blocks.0.ffn.w2", "blocks.1.attn.wo"}, "layer 2 attn.wo");
        row({"blocks.1.attn.wo", "blocks.1.ffn.w2"}, "layer 2 ffn.w2");
    }
    void theFirstTensorThatOverflowsIsNamed() {
        QFETCH(QStringList, matrices);
        QFETCH(QString, place);
        ThreadPool pool(2);
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto trainer = small_trainer<float>(30, small_stack(), train);
        auto state = trainer->save();
        const auto fill = [&](const std::string& name, float value) {
            const TensorInfo* t = trainer->model().table().find(name);
            QVERIFY(t);
            std::fill_n(state.parameters.begin() + static_cast<std::ptrdiff_t>(t->offset), t->count, value);
        };
        for (const QString& matrix : matrices) {
            fill(matrix.toStdString(), 0);
            const std::string before = matrix.chopped(2).toStdString();
            fill(before + (matrix.endsWith("w2") ? "b1" : "bv"), 2e4f);
        }
        trainer->restore(state);
        const StepNumbers now = trainer->step(pool);
        QVERIFY(now.overflowed && std::isfinite(now.loss));
        QCOMPARE(QString::fromStdString(now.overflow_place), place);
        // Without it nothing overflows: the other gradients fit.
        auto other = small_trainer<float>(30, small_stack(), train);
        const StepNumbers fits = other->step(pool);
        QVERIFY(!fits.overflowed && fits.overflow_place.empty());
    }

    /// Where no scale is small enough the run has diverged, and reports where.
    void anOverflowAtEveryScaleIsDivergence() {
        ThreadPool pool(1);
        StackSpec stack = small_stack();
        stack.z_loss = 1e30;  // a finite loss, a gradient beyond FP16
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto trainer = small_trainer<float>(100, stack, train);
        int steps = 0;
        for (; !trainer->ended(); ++steps) QVERIFY(trainer->step(pool).overflowed);
        QCOMPARE(trainer->outcome().state, RunState::Diverged);
        QCOMPARE(steps, 31);  // 2^16 … 2^-14
        const QString text = QString::fromStdString(trainer->outcome().text);
        QVERIFY2(text.startsWith("step 30 · ") && text.contains("gradient of"), qPrintable(text));
    }
};

NORMSCOPE_TEST(TrainerTest)
#include "trainer_test.moc"
