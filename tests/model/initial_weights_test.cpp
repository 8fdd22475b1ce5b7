// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/initial_weights.h"

#include "core/backend/cpu/host/default_threads.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QtTest>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

using namespace normscope;

namespace {

StackSpec stack_of(InitRule rule, Scheme scheme = Scheme::Pre) {
    StackSpec s;
    s.depth = 3;
    s.d_model = 64;
    s.heads = 4;
    s.d_ff = 160;
    s.context = 32;
    s.scheme = scheme;
    s.init.rule = rule;
    s.init.std = 0.03;
    s.init.embedding_std = 0.6325;
    complete(s, 50);
    return s;
}

/// What a tensor is called within its layer: "attn.wq", "tok_emb".
std::string kind_of(const TensorInfo& t) {
    return t.layer < 0 ? t.name : t.name.substr(t.name.find('.', 7) + 1);
}

/// The largest number of threads that this process had while `work` ran.
int threads_during(const std::function<void()>& work) {
    std::atomic<bool> done = false;
    std::atomic<int> most = 0;
    std::thread watch([&] {
        do {
            const int now =
                static_cast<int>(QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot).size());
            most = std::max(most.load(), now);
        } while (!done);
    });
    work();
    done = true;
    watch.join();
    return most;
}

std::map<std::string, double> with_embeddings(std::map<std::string, double> stds) {
    stds["tok_emb"] = stds["pos_emb"] = 0.6325;
    return stds;
}

}  // namespace

class InitialWeightsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The rules in numbers, and the drawn entries' deviation within 3 of its own standard errors
    /// σ/√(2·count).
    void deviations_data() {
        QTest::addColumn<int>("rule");
        QTest::addColumn<int>("index");
        for (int rule = 0; rule <= static_cast<int>(InitRule::PathLength); ++rule)
            QTest::newRow(word_of(static_cast<InitRule>(rule))) << rule << rule;
    }
    void deviations() {
        QFETCH(int, rule);
        const double lab = 1 / 8.0, out = 0.03 / std::sqrt(6.0), b = std::pow(24.0, -0.25);
        const double square = std::sqrt(2.0 / 128), wide = std::sqrt(2.0 / 224), head = std::sqrt(2.0 / 114);
        const double path = 0.03 * std::pow(3.0, -0.25);
        const auto matrices = [](double qk, double v, double o, double w1, double w2, double untied) {
            return std::map<std::string, double>{{"attn.wq", qk},        {"attn.wk", qk}, {"attn.wv", v},
                                                 {"attn.wo", o},         {"ffn.w1", w1},  {"ffn.w2", w2},
                                                 {"head.weight", untied}};
        };
        std::map<std::string, double> wanted;
        switch (static_cast<InitRule>(rule)) {
            case InitRule::Lab:
                wanted = matrices(lab, lab, lab, lab, lab, lab);
                wanted["tok_emb"] = 1;
                wanted["pos_emb"] = 0.5;
                break;
            case InitRule::Gpt2:
                wanted = with_embeddings(matrices(0.03, 0.03, out, 0.03, out, 0.03));
                break;
            case InitRule::Plain:
                wanted = with_embeddings(matrices(0.03, 0.03, 0.03, 0.03, 0.03, 0.03));
                break;
            case InitRule::Xavier:
                wanted = with_embeddings(matrices(square, square, square, wide, wide, head));
                break;
            case InitRule::DeepNorm:
                wanted = with_embeddings(matrices(square, b * square, b * square, b * wide, b * wide, 0.03));
                break;
            case InitRule::PathLength:
                wanted = with_embeddings(matrices(path, path, path, path, path, 0.03));
                break;
        }
        const StackSpec s = stack_of(static_cast<InitRule>(rule));
        const ParameterTable table(s);
        std::vector<double> parameters(table.size());
        initialise(s, table, 42, parameters.data());
        std::size_t matrices_seen = 0;
        for (const TensorInfo& t : table.tensors()) {
            if (t.shape.size() < 2) continue;
            ++matrices_seen;
            QVERIFY2(wanted.contains(kind_of(t)), t.name.c_str());
            const double std = wanted[kind_of(t)];
            QVERIFY2(std::abs(initial_std(s, t) - std) < 1e-15, t.name.c_str());
            double squares = 0;
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                squares += parameters[i] * parameters[i];
            const double count = static_cast<double>(t.count), drawn = std::sqrt(squares / count);
            QVERIFY2(std::abs(drawn - std) < 3 * std / std::sqrt(2 * count),
                     qPrintable(QString("%1: %2 for %3").arg(t.name.c_str()).arg(drawn).arg(std)));
        }
        QCOMPARE(matrices_seen, std::size_t(3 * 6 + 3));
    }

    /// SwiGLU: only the way down is an output projection; DeepNorm's gain is on all three matrices.
    void deviationsOfSwiGlu() {
        StackSpec s = stack_of(InitRule::Gpt2);
        s.activation = Activation::SwiGlu;
        const double wide = std::pow(24.0, -0.25) * std::sqrt(2.0 / 224);
        for (const char* name : {"blocks.1.ffn.w_gate", "blocks.1.ffn.w_up", "blocks.1.ffn.w_down"}) {
            s.init.rule = InitRule::Gpt2;
            const ParameterTable table(s);
            QVERIFY(table.find(name));
            const bool down = std::string(name).ends_with("down");
            QVERIFY(std::abs(initial_std(s, *table.find(name)) - (down ? 0.03 / std::sqrt(6.0) : 0.03)) <
                    1e-17);
            s.init.rule = InitRule::DeepNorm;
            QVERIFY(std::abs(initial_std(s, *table.find(name)) - wide) < 1e-16);
        }
    }

    void pathMapsSetTheExponent() {
        StackSpec s = stack_of(InitRule::PathLength);
        s.depth = 16;
        s.init.path_maps = 2;
        const ParameterTable table(s);
        QCOMPARE(initial_std(s, *table.find("blocks.0.ffn.w2")), 0.03 / 4);
    }

    void constants() {
        StackSpec s = stack_of(InitRule::Plain, Scheme::Lns);
        s.lns_form = LnsForm::Gamma;
        s.branch_scale = BranchScale::Channel;
        s.branch_scale_init = 0.1;
        s.gpas.enabled = true;
        const ParameterTable table(s);
        std::vector<float> parameters(table.size(), 7.0f);
        initialise(s, table, 1, parameters.data());
        const auto all = [&](const std::string& name, double value) {
            const TensorInfo* t = table.find(name);
            QVERIFY2(t, name.c_str());
            for (std::size_t i = 0; i < t->count; ++i)
                QCOMPARE(parameters[t->offset + i], static_cast<float>(value));
        };
        for (int l = 0; l < 3; ++l) {
            const std::string at = "blocks." + std::to_string(l);
            for (const char* sub : {".attn.", ".ffn."}) {
                all(at + sub + "norm_in.weight", 1 / std::sqrt(l + 1.0));
                all(at + sub + "norm_in.bias", 0);
                all(at + sub + "scale", 0.1);
            }
            all(at + ".gate", 0);
            all(at + ".attn.bq", 0);
        }
        all("final_norm.weight", 1);
        s.lns_form = LnsForm::Factor;
        initialise(s, table, 1, parameters.data());
        all("blocks.2.ffn.norm_in.weight", 1);
    }

    /// --threads 1 holds for the drawing, which is outside the engine's pool; the weights are the same.
    void drawnOnTheChosenThreads() {
        StackSpec s = stack_of(InitRule::Gpt2);
        s.d_model = 512;
        s.d_ff = 2048;
        const ParameterTable table(s);
        std::vector<float> one(table.size()), three(table.size());
        int idle = 0, with_one = 0, with_three = 0;
        idle = threads_during([] { QThread::msleep(50); });
        const auto draw = [&](int threads, std::vector<float>& to) {
            set_default_threads(threads);
            return threads_during([&] {
                for (int i = 0; i < 3; ++i) initialise(s, table, 1, to.data());
            });
        };
        with_one = draw(1, one);
        with_three = draw(3, three);
        set_default_threads(0);
        QCOMPARE(with_one, idle);
        QCOMPARE(with_three, idle + 2);
        QVERIFY(one == three);
        QCOMPARE(ThreadPool(0).threads(), default_threads());
    }

    /// The sizes of GPT-2 (nanoGPT's model.py); nothing is allocated.
    void parameterCounts() {
        const auto count = [](int depth, int heads, int width) {
            StackSpec s;
            s.depth = depth;
            s.heads = heads;
            s.d_model = width;
            s.context = 1024;
            s.tied_head = true;
            complete(s, 50257);
            return ParameterTable(s).size();
        };
        QCOMPARE(count(12, 12, 768), std::size_t(124'439'808));
        QCOMPARE(count(36, 20, 1280), std::size_t(774'030'080));
        QCOMPARE(count(48, 25, 1600), std::size_t(1'557'611'200));
    }

    /// The LLaMA sizes of [G] and MixLN: 2Vd + N(4d² + 3d·d_ff + 2d) + d, whatever the scheme of one norm a
    /// sub-layer.
    void parameterCountsOfLlama() {
        struct Size {
            int depth, width, heads, hidden;
            double millions;
        };
        for (const Size& size : {Size{4, 128, 4, 352, 9.00}, Size{12, 512, 8, 1368, 70.58},
                                 Size{12, 768, 12, 2048, 134.11}, Size{24, 768, 16, 2560, 247.37},
                                 Size{24, 2048, 32, 5461, 1339.08}, Size{32, 4096, 32, 11008, 6738.42}})
            for (Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns}) {
                StackSpec s;
                apply_block_preset(s, Block::Llama);
                s.depth = size.depth;
                s.d_model = size.width;
                s.heads = size.heads;
                s.d_ff = size.hidden;
                s.context = 1024;
                s.scheme = scheme;
                complete(s, 32000);
                const std::size_t N = static_cast<std::size_t>(size.depth),
                                  d = static_cast<std::size_t>(size.width),
                                  ff = static_cast<std::size_t>(size.hidden), V = 32000;
                const std::size_t count = ParameterTable(s).size();
                QCOMPARE(count, 2 * V * d + N * (4 * d * d + 3 * d * ff + 2 * d) + d);
                QVERIFY(std::abs(static_cast<double>(count) / 1e6 - size.millions) < 0.00501);
            }
    }

    /// Norms and scales by scheme and layout, with V 50, d 64, n 32, d_ff 160 and three layers.
    void schemesAddTheirNorms() {
        const auto count = [](Scheme scheme, Layout layout, BranchScale scale, bool gates) {
            StackSpec s = stack_of(InitRule::Plain, scheme);
            s.layout = layout;
            s.branch_scale = scale;
            s.gpas.enabled = gates;
            s.final_norm = FinalNorm::Off;
            return ParameterTable(s).size();
        };
        const std::size_t d = 64, bare = count(Scheme::None, Layout::Serial, BranchScale::None, false);
        QCOMPARE(bare, 2 * 50 * d + 32 * d + 3 * (4 * d * d + 4 * d + 2 * 160 * d + 160 + d));
        const auto norms = [&](Scheme scheme, Layout layout) {
            return (count(scheme, layout, BranchScale::None, false) - bare) / (2 * d);
        };
        for (Scheme scheme :
             {Scheme::Post, Scheme::Pre, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns, Scheme::Output})
            QCOMPARE(norms(scheme, Layout::Serial), std::size_t(6));
        for (Scheme scheme : {Scheme::Peri, Scheme::Sandwich})
            QCOMPARE(norms(scheme, Layout::Serial), std::size_t(12));
        QCOMPARE(norms(Scheme::Custom, Layout::Serial), std::size_t(0));
        QCOMPARE(norms(Scheme::Post, Layout::Parallel), std::size_t(3));  // one a layer
        QCOMPARE(norms(Scheme::Pre, Layout::Parallel), std::size_t(6));
        QCOMPARE(count(Scheme::None, Layout::Serial, BranchScale::Scalar, true) - bare, std::size_t(6 + 3));
        QCOMPARE(count(Scheme::None, Layout::Serial, BranchScale::Channel, false) - bare, 6 * d);
    }

    void scaleShapesAndFrozenGates() {
        StackSpec s = stack_of(InitRule::Plain);
        s.branch_scale = BranchScale::Scalar;
        s.gpas.enabled = true;
        s.gpas.learnable = false;
        const ParameterTable table(s);
        QVERIFY(table.find("blocks.2.attn.scale")->shape.empty());
        for (const TensorInfo& t : table.tensors()) QCOMPARE(t.frozen, t.name.ends_with(".gate"));
        s.branch_scale = BranchScale::Channel;
        QCOMPARE(ParameterTable(s).find("blocks.0.ffn.scale")->shape, std::vector<int>{64});
    }
};

NORMSCOPE_TEST(InitialWeightsTest)
#include "initial_weights_test.moc"
