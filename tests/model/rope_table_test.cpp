// SPDX-License-Identifier: GPL-3.0-or-later
// The frequencies of scaled rotary positions against those of transformers 5 (modeling_rope_utils.py,
// computed in float64), and the table's angles.
#include "core/model/rope_table.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <vector>

using namespace normscope;

namespace {

struct Reference {
    const char* name;
    int d_head, context;
    double base;
    RopeScaling scaling;
    double amplitude;
    std::vector<std::pair<int, double>> frequencies;  ///< pair, value
};
const std::vector<Reference>& references() {
    static const std::vector<Reference> all = {
        {"llama3, of LLaMA 3.1",
         128,
         64,
         500000,
         {RopeScalingKind::Llama3, 8, 8192, 1, 4},
         1,
         {{0, 1},
          {1, 0.81461723385654472},
          {16, 0.037606030930863933},
          {24, 0.0072926647372171085},
          {29, 0.0021665707635033591},
          {32, 0.00052484616099295468},
          {37, 6.3415143457776151e-05},
          {63, 3.0689259889145111e-07}}},
        {"yarn, of Qwen 2.5",
         128,
         64,
         1000000,
         {RopeScalingKind::Yarn, 4, 32768},
         1.138629436111989,
         {{0, 1},
          {1, 0.80584218776148187},
          {16, 0.031622776601683791},
          {24, 0.0053753214907901019},
          {29, 0.0014051124815959123},
          {32, 0.00060294117647058821},
          {37, 0.00012993149493015669},
          {63, 3.1023444018792988e-07}}},
        {"yarn, other turns",
         16,
         20,
         10000,
         {RopeScalingKind::Yarn, 40, 16, 1, 4, 4, 0.5, 1.25},
         1.25,
         {{0, 1}, {1, 0.16206673008362946}, {2, 0.0025}, {4, 0.00025}, {7, 7.9056941504209471e-06}}},
        {"linear",
         64,
         9,
         10000,
         {RopeScalingKind::Linear, 2.5},
         1,
         {{0, 0.4}, {1, 0.29995768373298237}, {16, 0.004}, {31, 5.3340857286532955e-05}}}};
    return all;
}

StackSpec stack_of(const Reference& of) {
    StackSpec s;
    apply_block_preset(s, Block::Llama);
    s.d_model = 2 * of.d_head;
    s.heads = 2;
    s.context = of.context;
    s.rope_base = of.base;
    s.rope_scaling = of.scaling;
    complete(s, 7);
    validate(s);
    return s;
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-14 * std::max(1.0, std::abs(b)) &&
           std::abs(a - b) <= 1e-13 * std::abs(b) + 1e-15;
}

}  // namespace

class RopeTableTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void frequencies_data() {
        QTest::addColumn<int>("row");
        for (std::size_t i = 0; i < references().size(); ++i)
            QTest::newRow(references()[i].name) << static_cast<int>(i);
    }
    void frequencies() {
        QFETCH(int, row);
        const Reference& of = references()[static_cast<std::size_t>(row)];
        const StackSpec spec = stack_of(of);
        const std::vector<double> found = rope_frequencies(spec), table = rope_table<double>(spec);
        QCOMPARE(found.size(), static_cast<std::size_t>(of.d_head) / 2);
        for (const auto& [pair, value] : of.frequencies) {
            const auto i = static_cast<std::size_t>(pair);
            QVERIFY2(near(found[i], value),
                     qPrintable(QString("%1: %2").arg(pair).arg(found[i], 0, 'g', 17)));
            const std::size_t half = found.size(), last = static_cast<std::size_t>(of.context) - 1;
            const double angle = static_cast<double>(last) * found[i];
            QVERIFY(near(table[last * 2 * half + i], of.amplitude * std::cos(angle)));
            QVERIFY(near(table[last * 2 * half + half + i], of.amplitude * std::sin(angle)));
        }
    }

    /// Pairs that turn are those of a head of their size; the others stay where they are.
    void partOfAHead() {
        Reference of = references()[1];
        of.d_head = 16;
        StackSpec whole = stack_of(of);
        of.d_head = 64;
        StackSpec part = stack_of(of);
        part.rope_fraction = 0.25;
        const std::vector<double> few = rope_frequencies(whole), many = rope_frequencies(part),
                                  table = rope_table<double>(part);
        for (std::size_t i = 0; i < 32; ++i) {
            QCOMPARE(many[i], i < 8 ? few[i] : 0.0);
            if (i < 8) continue;
            QCOMPARE(table[5 * 64 + i], 1.0);
            QCOMPARE(table[5 * 64 + 32 + i], 0.0);
        }
        part.rope_fraction = 0.02;
        QVERIFY_EXCEPTION_THROWN(validate(part), InputError);
    }

    void impossibleScalingIsRejected() {
        StackSpec s = stack_of(references()[0]);
        s.rope_scaling.low_frequency = 4;
        QVERIFY_EXCEPTION_THROWN(validate(s), InputError);
        s = stack_of(references()[1]);
        s.rope_base = 1;
        QVERIFY_EXCEPTION_THROWN(validate(s), InputError);
    }

    /// Local layers have a table of their own after the first, of their base, unscaled.
    void localLayersHaveTheirOwnAngles() {
        StackSpec both = stack_of(references()[1]);
        both.depth = 5;
        both.rope_global_every = 3;
        both.rope_local_base = 77;
        StackSpec global = both, local = both;
        global.rope_global_every = local.rope_global_every = 1;
        local.rope_base = 77;
        local.rope_scaling = {};
        std::vector<double> expected = rope_table<double>(global);
        const std::vector<double> after = rope_table<double>(local);
        QVERIFY(expected != after);
        expected.insert(expected.end(), after.begin(), after.end());
        QVERIFY(rope_table<double>(both) == expected);
        for (int l = 0; l < both.depth; ++l) QCOMPARE(both.is_local(l), l != 2);
    }
};

NORMSCOPE_TEST(RopeTableTest)
#include "rope_table_test.moc"
