// SPDX-License-Identifier: GPL-3.0-or-later
// What a kernel of a training step states to move (LaunchLog), against the bytes that it reads and writes on
// the emulated grid, each once, with all accesses checked: odd sizes, blocks, schemes, precisions,
// optimizers.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/train/trainer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <map>
#include <string>

using namespace normscope;

namespace {

/// Checked, with tiles alone, and without graphs, so that every step makes its calls.
class LoggedDevice final : public EmulatedCudaDevice {
  public:
    explicit LoggedDevice(int stored_tokens = 0)
        : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, true}, stored_tokens) {}
    std::unique_ptr<Graph> capture(const std::function<void()>&) override { return nullptr; }
};

struct Case {
    const char* name;
    void (*change)(StackSpec&, TrainSpec&);
    int stored_tokens = 0;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"GPT-2, fp32", [](StackSpec&, TrainSpec&) {}},
        {"GPT-2, fp32, stored maps", [](StackSpec&, TrainSpec&) {}, 512},
        {"GPT-2, bf16 autocast", [](StackSpec&, TrainSpec& t) { t.precision = Precision::Bf16; }},
        {"GPT-2, bf16 pure",
         [](StackSpec&, TrainSpec& t) {
             t.precision = Precision::Bf16;
             t.precision_policy = PrecisionPolicy::Pure;
         },
         512},
        {"LLaMA, fp16",
         [](StackSpec& s, TrainSpec& t) {
             apply_block_preset(s, Block::Llama);
             t.precision = Precision::Fp16;
         }},
        {"LLaMA, fp32, SGD, two batches",
         [](StackSpec& s, TrainSpec& t) {
             apply_block_preset(s, Block::Llama);
             t.optimizer.kind = OptimizerKind::Sgd;
             t.accumulate = 2;
         }},
        {"Peri, gates, norms on q and k, Muon",
         [](StackSpec& s, TrainSpec& t) {
             s.scheme = Scheme::Peri;
             s.gpas.enabled = true;
             s.qk_norm = QkNorm::Head;
             t.optimizer.kind = OptimizerKind::Muon;
         },
         512},
        {"Post, tied head, Adam",
         [](StackSpec& s, TrainSpec& t) {
             s.scheme = Scheme::Post;
             s.tied_head = true;
             t.optimizer.kind = OptimizerKind::Adam;
         }},
    };
    return all;
}

}  // namespace

class StepTrafficTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void statedIsTouched_data() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Case& c : cases()) QTest::newRow(c.name) << index++;
    }
    void statedIsTouched() {
        QFETCH(int, index);
        const Case& c = cases()[static_cast<std::size_t>(index)];
        StackSpec stack;
        stack.depth = 2;
        stack.d_model = 48;
        stack.heads = 3;
        stack.context = 70;
        TrainSpec train;
        train.batch = 3;
        train.steps = 20;
        train.validate_every = 0;
        c.change(stack, train);
        std::shared_ptr<const Corpus> corpus = make_corpus(train.data, stack);
        complete(stack, corpus->vocab());
        LoggedDevice device(c.stored_tokens);
        Trainer<float> trainer(stack, train, corpus, device);
        ThreadPool pool(1);
        trainer.step(pool);
        cuda::LaunchLog log;
        device.log_calls(&log);
        trainer.step(pool);
        device.log_calls(nullptr);

        std::map<std::string, std::pair<cuda::Traffic, cuda::Traffic>> kernels;
        double stated = 0, touched = 0;
        for (const cuda::LoggedCall& call : log.calls) {
            QVERIFY2(call.stated, call.name);
            if (call.blocks == 0) continue;  // a GEMM or a copy, by its arguments
            auto& [counted, measured] = kernels[call.name];
            counted = counted + call.traffic;
            measured = measured + call.touched;
            stated += call.traffic.bytes();
            touched += call.touched.bytes();
        }
        QVERIFY(kernels.size() > 15);
        // Statistics of rows, coefficients, ends of pieces are not counted one by one; tokens repeat.
        const auto near = [](double counted, double measured) {
            return std::abs(counted - measured) <= 0.12 * measured + 700;
        };
        QStringList wrong;
        for (const auto& [name, of] : kernels) {
            const auto& [counted, measured] = of;
            const bool by_token = name.rfind("token_", 0) == 0 || name.rfind("embedding_", 0) == 0;
            if (by_token ? counted.bytes() < 0.8 * measured.bytes() || counted.bytes() > 3 * measured.bytes()
                         : !near(counted.read, measured.read) || !near(counted.written, measured.written))
                wrong << QString("%1: stated %2 + %3, touched %4 + %5")
                             .arg(QString::fromStdString(name))
                             .arg(counted.read)
                             .arg(counted.written)
                             .arg(measured.read)
                             .arg(measured.written);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
        QVERIFY2(std::abs(stated - touched) < 0.03 * touched,
                 qPrintable(QString("%1 of %2").arg(stated).arg(touched)));
    }
};

NORMSCOPE_TEST(StepTrafficTest)
#include "step_traffic_test.moc"
