// SPDX-License-Identifier: GPL-3.0-or-later
// The graph of a training step, on the emulated CUDA device: it gives the same bits as the calls themselves,
// with the knobs of now, and is captured again where scratch memory has moved. A step in a thread of its own
// is never captured.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/train/trainer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <thread>

using namespace normscope;

namespace {

std::unique_ptr<Trainer<float>> small_trainer(Device& device, TrainSpec train) {
    StackSpec stack;
    stack.depth = 2;
    stack.d_model = 8;
    stack.heads = 2;
    stack.context = 4;
    stack.gpas.enabled = true;
    stack.gpas.clip = 0.01;
    train.batch = 3;
    if (train.steps > 20) train.steps = 20;
    std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
    complete(stack, corpus->vocab());
    return std::make_unique<Trainer<float>>(stack, train, corpus, device);
}

EmulatedCudaDevice new_device() {
    return EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false});
}

/// Steps without a graph. Every thread lives to the end: a new one would have the id of one that has ended.
class StepsAlone {
  public:
    ~StepsAlone() {
        over_.set_value();
        for (std::thread& thread : threads_) thread.join();
    }
    StepNumbers step(Trainer<float>& trainer, ThreadPool& pool) {
        std::promise<StepNumbers> made;
        threads_.emplace_back([&, over = until_] {
            made.set_value(trainer.step(pool));
            over.wait();
        });
        return made.get_future().get();
    }

  private:
    std::promise<void> over_;
    std::shared_future<void> until_ = over_.get_future().share();
    std::vector<std::thread> threads_;
};

/// Writes down when results are asked for ("read"), waited for ("wait 0"), or copied at once ("copy").
class WatchedDevice final : public EmulatedCudaDevice {
  public:
    WatchedDevice() : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}) {}
    void download(void* to, const void* from, std::size_t bytes) override {
        calls << "copy";
        EmulatedCudaDevice::download(to, from, bytes);
    }
    std::unique_ptr<Readback> read(const void* from, std::size_t bytes) override {
        if (bytes != sizeof(StepReport)) return std::make_unique<Later>(*this, from, bytes, -1);
        calls << QString("read %1").arg(steps);
        return std::make_unique<Later>(*this, from, bytes, steps++);
    }
    QStringList calls;
    int steps = 0;

  private:
    struct Later final : Readback {
        Later(WatchedDevice& device, const void* from, std::size_t bytes, int step)
            : owner(device), number(step), values(bytes) {
            owner.EmulatedCudaDevice::download(values.data(), from, bytes);
        }
        const void* wait() override {
            if (number >= 0 && !std::exchange(waited, true)) owner.calls << QString("wait %1").arg(number);
            return values.data();
        }
        WatchedDevice& owner;
        int number;
        bool waited = false;
        std::vector<std::byte> values;
    };
};

bool same_weights(const Trainer<float>& a, const Trainer<float>& b) {
    const auto x = a.trained_weights(), y = b.trained_weights();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

class StepGraphTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void knobsActAtTheNextLaunch_data() {
        QTest::addColumn<int>("optimizer");
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("accumulate");
        using enum OptimizerKind;
        QTest::newRow("adamw") << int(AdamW) << int(Precision::Fp32) << 1;
        QTest::newRow("adam, two batches") << int(Adam) << int(Precision::Fp32) << 2;
        QTest::newRow("sgd, bf16") << int(Sgd) << int(Precision::Bf16) << 1;
        QTest::newRow("muon, fp16") << int(Muon) << int(Precision::Fp16) << 1;
    }
    void knobsActAtTheNextLaunch() {
        QFETCH(int, optimizer);
        QFETCH(int, precision);
        QFETCH(int, accumulate);
        TrainSpec train;
        train.optimizer.kind = static_cast<OptimizerKind>(optimizer);
        train.precision = static_cast<Precision>(precision);
        train.accumulate = accumulate;
        auto device = new_device();
        ThreadPool pool(1);
        StepsAlone alone;
        auto captured = small_trainer(device, train), called = small_trainer(device, train);
        auto kept = small_trainer(device, train);  // without the knobs
        for (int i = 0; i < 8; ++i) {
            if (i == 4) {
                const HotKnobs knobs{0.5, 1.7, 1e-3, 0.02, 0.3, 0.1};
                captured->set_knobs(knobs);
                called->set_knobs(knobs);
            }
            const StepNumbers a = captured->step(pool), b = alone.step(*called, pool), c = kept->step(pool);
            QCOMPARE(a.loss, b.loss);
            QCOMPARE(a.grad_norm, b.grad_norm);
            QVERIFY(same_weights(*captured, *called));
            QCOMPARE(same_weights(*captured, *kept), i < 4);
        }
    }

    /// The host waits for a step's results when the next two are in the device's queue, and copies nothing
    /// else meanwhile.
    void resultsAreReadWhileLaterStepsRun() {
        WatchedDevice device;
        ThreadPool pool(1);
        TrainSpec train;
        train.validate_every = 0;
        auto trainer = small_trainer(device, train);
        trainer->steps(pool, 2);
        device.calls.clear();
        device.steps = 0;
        QCOMPARE(trainer->steps(pool, 5).size(), std::size_t{5});
        QCOMPARE(device.calls, (QStringList{"read 0", "read 1", "read 2", "wait 0", "read 3", "wait 1",
                                            "read 4", "wait 2", "wait 3", "wait 4"}));
    }

    /// The gradients of a skipped update are those of a later step when its report is read: no tensor is
    /// named.
    void anOverflowOfADeviceThatRunsAheadHasNoPlace() {
        auto device = new_device();
        ThreadPool pool(1);
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto trainer = small_trainer(device, train);
        auto state = trainer->save();
        state.loss_scale = {0x1p30, 0};
        trainer->restore(state);
        for (const StepNumbers& now : trainer->steps(pool, 3))
            QVERIFY(now.overflowed && now.overflow_place.empty());
    }

    /// Several steps of one call are those of as many calls: numbers, temperatures of a warm-up, held-out
    /// losses, rates, weights and the end.
    void severalStepsAreThoseOfAsManyCalls() {
        for (const Precision precision : {Precision::Fp32, Precision::Fp16}) {
            TrainSpec train;
            train.precision = precision;
            train.steps = 11;
            train.validate_every = 4;
            train.schedule.temperature_from = 2;
            train.schedule.temperature_warmup = 6;
            auto device = new_device();
            ThreadPool pool(1);
            auto together = small_trainer(device, train), one = small_trainer(device, train);
            for (const int count : {1, 4, 100}) {
                for (const StepNumbers& a : together->steps(pool, count)) {
                    const StepNumbers b = one->step(pool);
                    QCOMPARE(a.step, b.step);
                    QCOMPARE(a.loss, b.loss);
                    QCOMPARE(std::isnan(a.val_loss), std::isnan(b.val_loss));
                    if (!std::isnan(b.val_loss)) QCOMPARE(a.val_loss, b.val_loss);
                    QCOMPARE(a.grad_norm, b.grad_norm);
                    QCOMPARE(a.gradient_ratio, b.gradient_ratio);
                    QVERIFY(a.hidden_rms == b.hidden_rms && a.hidden_gradient == b.hidden_gradient);
                    QCOMPARE(a.lr, b.lr);
                    QCOMPARE(a.temperature, b.temperature);
                    QCOMPARE(a.loss_scale, b.loss_scale);
                }
                QCOMPARE(together->steps_done(), one->steps_done());
                QVERIFY(same_weights(*together, *one));
            }
            QCOMPARE(together->steps_done(), 11);
            QCOMPARE(together->outcome().state, one->outcome().state);
        }
    }

    /// A gradient that is not finite while the next steps are in the queue already: the words, the weights,
    /// the moments and the loss scale are those of a run step by step.
    void stepsAfterADivergenceChangeNothing_data() {
        QTest::addColumn<int>("precision");
        QTest::addColumn<double>("lr");
        QTest::newRow("fp32, loss") << int(Precision::Fp32) << 1e30;
        QTest::newRow("fp16, exhausted") << int(Precision::Fp16) << 1e30;
    }
    void stepsAfterADivergenceChangeNothing() {
        QFETCH(int, precision);
        QFETCH(double, lr);
        TrainSpec train;
        train.precision = static_cast<Precision>(precision);
        train.schedule.temperature_from = 2;
        train.schedule.temperature_warmup = 20;
        auto device = new_device();
        ThreadPool pool(1);
        auto together = small_trainer(device, train), one = small_trainer(device, train);
        HotKnobs knobs = one->knobs();
        knobs.lr = lr;
        for (auto* trainer : {together.get(), one.get()}) {
            trainer->step(pool);
            trainer->set_knobs(knobs);
        }
        StepNumbers last;
        while (!one->ended()) last = one->step(pool);
        const std::vector<StepNumbers> made = together->steps(pool, 100);
        QCOMPARE(one->outcome().state, RunState::Diverged);
        QVERIFY2(last.step < 18, "no step was in the queue");
        QCOMPARE(made.back().step, last.step);
        QCOMPARE(together->outcome().text, one->outcome().text);
        QCOMPARE(together->steps_done(), one->steps_done());
        const TrainerState<float> a = together->save(), b = one->save();
        const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
            return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
        };
        QVERIFY(same(a.parameters, b.parameters) && same(a.moment1, b.moment1) && same(a.moment2, b.moment2));
        QCOMPARE(a.optimizer_steps, b.optimizer_steps);
        QVERIFY(a.loss_scale == b.loss_scale);
        QVERIFY(made.back().hidden_gradient.size() == last.hidden_gradient.size());
        for (std::size_t k = 0; k < last.hidden_rms.size(); ++k)
            QVERIFY(made.back().hidden_rms[k] == last.hidden_rms[k] || std::isnan(last.hidden_rms[k]));
    }

    /// A token of step 5's batch, and of none of the next two steps', which are in the queue already and
    /// would be good: where its embedding is not finite, and where its gradient alone is not (in FP16 at the
    /// smallest loss scale, where a norm has zeros before it).
    void goodStepsAfterADivergenceChangeNothing_data() {
        QTest::addColumn<int>("precision");
        QTest::newRow("forward pass") << int(Precision::Fp32);
        QTest::newRow("gradient") << int(Precision::Fp16);
    }
    void goodStepsAfterADivergenceChangeNothing() {
        QFETCH(int, precision);
        TrainSpec train;
        train.precision = static_cast<Precision>(precision);
        auto device = new_device();
        ThreadPool pool(1);
        auto together = small_trainer(device, train), one = small_trainer(device, train);
        const StackSpec& stack = one->model().spec();
        const auto corpus = make_corpus(one->spec().data, stack);
        const auto has = [&](std::int64_t step, int token) {
            const Batch batch =
                corpus->train_batch(one->spec().seed, step, 0, one->spec().batch, stack.context);
            return std::count(batch.tokens.begin(), batch.tokens.end(), token) > 0;
        };
        int token = 0;
        while (token < stack.vocab && !(has(5, token) && !has(6, token) && !has(7, token))) ++token;
        QVERIFY2(token < stack.vocab, "no such token");
        for (auto* trainer : {together.get(), one.get()}) {
            for (int i = 0; i < 5; ++i) trainer->step(pool);
            TrainerState<float> state = trainer->save();
            const auto fill = [&](const char* tensor, int row, std::size_t count, float value) {
                const std::size_t at =
                    trainer->model().table().find(tensor)->offset +
                    static_cast<std::size_t>(row) * static_cast<std::size_t>(stack.d_model);
                std::fill_n(state.parameters.begin() + static_cast<std::ptrdiff_t>(at), count, value);
            };
            const auto width = static_cast<std::size_t>(stack.d_model);
            if (train.precision == Precision::Fp32) {
                fill("tok_emb", token, width, std::numeric_limits<float>::infinity());
            } else {
                fill("tok_emb", token, width, 0);
                fill("pos_emb", 0, width * static_cast<std::size_t>(stack.context), 0);
                state.knobs.eps = 1e-24;
                state.loss_scale = {LossScale::kLowest, 0};
            }
            trainer->restore(state);
        }
        one->step(pool);
        QCOMPARE(one->outcome().state, RunState::Diverged);
        QCOMPARE(one->outcome().text.find("gradient of") != std::string::npos,
                 train.precision == Precision::Fp16);
        QCOMPARE(together->steps(pool, 10).size(), std::size_t{1});
        QCOMPARE(together->steps_done(), 5);
        QCOMPARE(together->outcome().text, one->outcome().text);
        const TrainerState<float> a = together->save(), b = one->save();
        QVERIFY(a.parameters == b.parameters && a.moment1 == b.moment1 && a.moment2 == b.moment2);
        QCOMPARE(a.optimizer_steps, b.optimizer_steps);
    }

    /// A probe of a larger batch takes more scratch memory, which moves.
    void isCapturedAgainWhereMemoryHasMoved() {
        auto device = new_device();
        ThreadPool pool(1);
        StepsAlone alone;
        auto captured = small_trainer(device, {}), called = small_trainer(device, {});
        for (int i = 0; i < 6; ++i) {
            if (i == 3) {
                Gradients<float> gradients;
                StepScratch<float> scratch;
                const Batch batch = captured->probe_batch(30, 4);
                captured->model().clear(gradients, 30);
                captured->model().accumulate(batch, 1, gradients, scratch, pool);
            }
            QCOMPARE(captured->step(pool).loss, alone.step(*called, pool).loss);
        }
        QVERIFY(same_weights(*captured, *called));
    }

    /// A state restored between two launches is that of the next one: moments, loss scale, number of updates.
    void aRestoredStateIsThatOfTheNextLaunch() {
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto device = new_device();
        ThreadPool pool(1);
        auto trainer = small_trainer(device, train);
        for (int i = 0; i < 3; ++i) trainer->step(pool);
        const TrainerState<float> state = trainer->save();
        std::vector<double> first, second;
        for (auto* losses : {&first, &second}) {
            for (int i = 0; i < 4; ++i) losses->push_back(trainer->step(pool).loss);
            if (losses == &first) trainer->restore(state);
        }
        QCOMPARE(second, first);
    }

    /// A gradient that overflows FP16 skips the update on the device: weights, moments and their number stay,
    /// the scale halves, as on the CPU.
    void anOverflowSkipsTheUpdate() {
        TrainSpec train;
        train.precision = Precision::Fp16;
        auto device = new_device();
        ThreadPool pool(1);
        auto on_device = small_trainer(device, train), on_cpu = small_trainer(cpu_device(), train);
        for (auto* trainer : {on_device.get(), on_cpu.get()}) {
            for (int i = 0; i < 3; ++i) trainer->step(pool);
            TrainerState<float> state = trainer->save();
            state.loss_scale = {0x1p40, 7};
            trainer->restore(state);
            const StepNumbers now = trainer->step(pool);
            QVERIFY(now.overflowed);
            QCOMPARE(now.loss_scale, 0x1p40);
            const TrainerState<float> after = trainer->save();
            QCOMPARE(after.step, state.step + 1);
            QVERIFY(after.parameters == state.parameters);
            QVERIFY(after.moment1 == state.moment1 && after.moment2 == state.moment2);
            QCOMPARE(after.optimizer_steps, state.optimizer_steps);
            QCOMPARE(after.loss_scale.scale, 0x1p39);
            QCOMPARE(after.loss_scale.good_steps, 0);
        }
    }

    /// Weights that are not finite end the run with the CPU's words, and are kept as they were.
    void aNonFiniteStepIsNamedAsOnTheCpu() {
        auto device = new_device();
        ThreadPool pool(1);
        auto on_device = small_trainer(device, {}), on_cpu = small_trainer(cpu_device(), {});
        for (auto* trainer : {on_device.get(), on_cpu.get()}) {
            for (int i = 0; i < 3; ++i) trainer->step(pool);
            TrainerState<float> state = trainer->save();
            state.parameters[trainer->model().table().find("blocks.1.ffn.w1")->offset] =
                std::numeric_limits<float>::infinity();
            trainer->restore(state);
            trainer->step(pool);
            QCOMPARE(trainer->steps_done(), 3);
            QVERIFY(trainer->save().moment1 == state.moment1);
        }
        QCOMPARE(on_device->outcome().state, RunState::Diverged);
        QCOMPARE(on_device->outcome().text, on_cpu->outcome().text);
    }

    /// Finite losses far above the first one for 50 steps: the device skips the update of the same step
    /// at which the verdict ends the run.
    void aDivergenceByLossesIsThatOfTheVerdict() {
        TrainSpec train;
        auto device = new_device();
        ThreadPool pool(1);
        auto trainer = small_trainer(device, train);
        for (int i = 0; i < 3; ++i) trainer->step(pool);
        TrainerState<float> state = trainer->save();
        DivergenceWatch watch;
        Verdict verdict(std::log(trainer->model().spec().vocab), 1, 0);
        for (int i = 0; i < 99; ++i) {  // the window is full at 20, above from there on, patient for 50 …
            const double loss = i < 20 ? 0.1 : 0.1 + 3;
            QVERIFY(!verdict.add(i, loss, 1) || watch.above >= DivergenceWatch::kPatience);
            if (verdict.watch().above == DivergenceWatch::kPatience - 1) break;
        }
        QCOMPARE(verdict.watch().above, DivergenceWatch::kPatience - 1);
        state.verdict = verdict.state();
        trainer->restore(state);
        const StepNumbers now = trainer->step(pool);
        QVERIFY2(now.loss > 2.2, "the test's losses fit no longer");
        QCOMPARE(trainer->outcome().state, RunState::Diverged);
        QVERIFY(trainer->save().parameters == state.parameters);
        QVERIFY(trainer->save().moment1 == state.moment1);
    }

    void aCapturedCallRunsAtLaunchAlone() {
        auto device = new_device();
        Buffer<float> from, to;
        from.upload(device, {1, 2, 3});
        to.upload(device, {0, 0, 0});
        const float two = 2;
        Buffer<float> factor;
        factor.upload(device, &two, 1);
        auto graph = device.capture([&] {
            device.pass_ops<float>().elementwise.copy(3, from.data(), to.data());
            device.pass_ops<float>().elementwise.scale(3, factor.data(), to.data(), to.data());
        });
        QCOMPARE(to.values(), (std::vector<float>{0, 0, 0}));
        graph->launch();
        QCOMPARE(to.values(), (std::vector<float>{2, 4, 6}));
        from.upload(device, {5, 6, 7});
        graph->launch();
        QCOMPARE(to.values(), (std::vector<float>{10, 12, 14}));
        QVERIFY(graph->valid());
        device.scratch(0, 10);
        QVERIFY(graph->valid());  // a new block moves none
        device.scratch(0, 1 << 20);
        QVERIFY(!graph->valid());
    }

    void aCaptureNeitherCopiesToTheHostNorAllocates() {
        auto device = new_device();
        Buffer<float> x;
        x.upload(device, {1, 2, 3});
        const auto rejected = [&](const std::function<void()>& calls) {
            QVERIFY_EXCEPTION_THROWN(device.capture(calls), std::logic_error);
            QCOMPARE(x.values().size(), std::size_t{3});  // the capture has ended
        };
        rejected([&] { x.values(); });
        rejected([&] { x.upload(device, {4, 5, 6}); });
        rejected([&] { Buffer<float> another(device, 3); });
    }

    /// What a step of this depth asks a card for; of cuBLAS' own kernels a GEMM may be two.
    void calls_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<Precision>("precision");
        QTest::addColumn<int>("most");
        QTest::newRow("4 layers, bf16") << 4 << Precision::Bf16 << 186;
        QTest::newRow("4 layers, fp32") << 4 << Precision::Fp32 << 191;
        QTest::newRow("6 layers, bf16") << 6 << Precision::Bf16 << 262;
        QTest::newRow("12 layers, bf16") << 12 << Precision::Bf16 << 490;
        QTest::newRow("12 layers, fp32") << 12 << Precision::Fp32 << 519;
    }
    void calls() {
        QFETCH(int, depth);
        QFETCH(Precision, precision);
        QFETCH(int, most);
        EmulatedCudaDevice device({grid::Schedule::Order::Ascending, 1, false}, 0);
        StackSpec stack;
        stack.depth = depth;
        stack.d_model = 16;
        stack.heads = 2;
        stack.context = 4;
        TrainSpec train;
        train.batch = 1;
        train.steps = 10;
        train.precision = precision;
        train.precision_policy = PrecisionPolicy::Autocast;
        std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
        complete(stack, corpus->vocab());
        ThreadPool pool(1);
        Trainer<float> trainer(stack, train, corpus, device);
        trainer.steps(pool, 3);
        QVERIFY(device.captured_calls() > 0);
        QVERIFY2(static_cast<int>(device.captured_calls()) <= most,
                 qPrintable(QString("%1 calls").arg(device.captured_calls())));
    }
};

NORMSCOPE_TEST(StepGraphTest)
#include "step_graph_test.moc"
