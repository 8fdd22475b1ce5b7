// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/precision_warnings.h"

#include "core/run/complete.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class PrecisionWarningsTest : public QObject {
    Q_OBJECT

    static QString line(const std::vector<std::string>& settings) {
        const Recipe recipe = load_recipe("pre-ln", settings);
        const auto lines = precision_warnings(recipe);
        return lines.empty() ? QString() : QString::fromStdString(lines.front());
    }

  private Q_SLOTS:
    void anEpsilonThatFp16DoesNotHold() {
        QCOMPARE(line({"precision=fp16"}), QString());
        QCOMPARE(line({"precision=fp16", "stack.norm.eps=3e-8"}), QString());  // 2⁻²⁵ is 2.98e-8
        QVERIFY(line({"precision=fp16", "stack.norm.eps=2.9e-8"})
                    .contains("norm.eps 2.9e-08 with precision fp16: in FP16 it is 0"));
        QVERIFY(!line({"precision=fp16", "stack.norm.eps=2.9e-8"}).contains("1/√ε"));
        QVERIFY(line({"precision=fp16", "stack.norm.eps=1e-12"}).contains("1/√ε is above 65504"));
        QVERIFY(!line({"precision=fp16", "stack.norm.eps=2.4e-10"}).contains("1/√ε"));
        QCOMPARE(line({"precision=bf16", "stack.norm.eps=1e-12"}), QString());
        QCOMPARE(
            line({"precision=fp16", "stack.norm.eps=1e-12", "stack.scheme=none", "stack.final_norm=off"}),
            QString());
    }
};

NORMSCOPE_TEST(PrecisionWarningsTest)
#include "precision_warnings_test.moc"
