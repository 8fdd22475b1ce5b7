// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/warnings.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

StackSpec stack_of(Scheme scheme, InitRule rule = InitRule::Plain) {
    StackSpec s;
    s.scheme = scheme;
    s.init.rule = rule;
    return s;
}

QStringList lines_of(const StackSpec& spec) {
    QStringList lines;
    for (const std::string& line : warnings(spec)) lines << QString::fromStdString(line);
    return lines;
}

}  // namespace

class WarningsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void nothingIsStatedOfWhatIsPublished() {
        for (Scheme scheme : {Scheme::None, Scheme::Post, Scheme::Pre, Scheme::Peri, Scheme::Sandwich,
                              Scheme::Mix, Scheme::Lns, Scheme::Output, Scheme::Custom})
            QCOMPARE(lines_of(stack_of(scheme)), QStringList());
        QCOMPARE(lines_of(stack_of(Scheme::DeepNorm, InitRule::DeepNorm)), QStringList());
        for (Scheme scheme : {Scheme::Pre, Scheme::Sandwich, Scheme::Mix, Scheme::Lns}) {
            StackSpec s = stack_of(scheme);
            s.gpas.enabled = true;
            QCOMPARE(lines_of(s), QStringList());
        }
        StackSpec kan = stack_of(Scheme::Peri, InitRule::Gpt2);
        kan.residual_step = 0.1;
        QCOMPARE(lines_of(kan), QStringList());
        StackSpec lab;
        QCOMPARE(lines_of(lab), QStringList());
    }

    void eachPairIsNamed_data() {
        QTest::addColumn<QString>("begins");
        QTest::addColumn<int>("index");
        int i = 0;
        for (const char* begins :
             {"scheme lns with init.rule gpt2: ", "scheme deepnorm with init.rule plain: ",
              "init.rule deepnorm with scheme pre: ", "residual_step with Post-LN: ",
              "residual_step with LNS: ", "mix_post_fraction times depth is below 1: ",
              "final_norm off with Peri-LN: ", "gpas.stop_gradient false: ", "gpas.activation relu: ",
              "gpas.site norm: ", "gpas.site branch: ", "gpas with Post-LN: ", "gpas.learnable false: ",
              "layers, index 2: attn.post does nothing", "layers, index 2: ffn.a does nothing",
              "branch_scale channel with Output-LN: "})
            QTest::newRow(begins) << QString(begins) << i++;
    }
    void eachPairIsNamed() {
        QFETCH(QString, begins);
        QFETCH(int, index);
        std::vector<StackSpec> stacks{stack_of(Scheme::Lns, InitRule::Gpt2), stack_of(Scheme::DeepNorm),
                                      stack_of(Scheme::Pre, InitRule::DeepNorm)};
        const auto add = [&](Scheme scheme, auto change) {
            stacks.push_back(stack_of(scheme));
            change(stacks.back());
        };
        add(Scheme::Post, [](StackSpec& s) { s.residual_step = 0.2; });
        add(Scheme::Lns, [](StackSpec& s) { s.residual_step = 0.2; });
        add(Scheme::Mix, [](StackSpec& s) { s.depth = 3; });
        add(Scheme::Peri, [](StackSpec& s) { s.final_norm = FinalNorm::Off; });
        const auto gpas = [&](auto change) {
            add(Scheme::Pre, [&](StackSpec& s) {
                s.gpas.enabled = true;
                change(s);
            });
        };
        gpas([](StackSpec& s) { s.gpas.stop_gradient = false; });
        gpas([](StackSpec& s) { s.gpas.activation = GateActivation::Relu; });
        gpas([](StackSpec& s) { s.gpas.site = GateSite::Norm; });
        gpas([](StackSpec& s) { s.gpas.site = GateSite::Branch; });
        gpas([](StackSpec& s) { s.scheme = Scheme::Post; });
        gpas([](StackSpec& s) { s.gpas.learnable = false; });
        const auto parallel = [&](auto change) {
            add(Scheme::Pre, [&](StackSpec& s) {
                s.layout = Layout::Parallel;
                s.layers.resize(1);
                s.layers[0].index = 2;
                change(s.layers[0]);
            });
        };
        parallel([](LayerOverride& l) { l.attn.post = true; });
        parallel([](LayerOverride& l) { l.ffn.a = 0.5; });
        add(Scheme::Output, [](StackSpec& s) { s.branch_scale = BranchScale::Channel; });

        const QStringList lines = lines_of(stacks.at(static_cast<std::size_t>(index)));
        QCOMPARE(lines.size(), 1);
        QVERIFY2(lines[0].startsWith(begins), qPrintable(lines[0]));
        QVERIFY(!lines[0].contains('\n'));
    }

    void switchesThatAreOffAreNotNamed() {
        StackSpec s = stack_of(Scheme::Post);
        s.gpas.stop_gradient = false;
        s.gpas.learnable = false;
        s.layers.resize(1);
        s.layers[0].attn.post = true;  // serial
        QCOMPARE(lines_of(s), QStringList());
    }
};

NORMSCOPE_TEST(WarningsTest)
#include "warnings_test.moc"
