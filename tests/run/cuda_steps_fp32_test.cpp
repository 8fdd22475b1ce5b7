// SPDX-License-Identifier: GPL-3.0-or-later
// Twenty steps in float32 (twenty_steps.h).
#include "tests/run/twenty_steps.h"

using namespace normscope;
using namespace normscope::twenty_steps;

class CudaStepsFp32Test : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void adamw_data() { add_stacks(); }
    void adamw() {
        const Apart found = compare(recipe_of(fetch_stack(), {}));
        verify(found, {1e-5, 1e-5, 1e-5});
        QVERIFY2(found.weights <= 1e-5,
                 qPrintable(QString("%1: %2").arg(found.tensor.c_str()).arg(found.weights)));
    }
    void sgd_data() { add_stacks(); }
    void sgd() {
        const Apart found = compare(recipe_of(fetch_stack(), {"optimizer.kind=sgd", "optimizer.lr=0.05"}));
        verify(found, {1e-5, 1e-5, 1e-5});
        QVERIFY2(found.weights <= 1e-5,
                 qPrintable(QString("%1: %2").arg(found.tensor.c_str()).arg(found.weights)));
    }
};

QTEST_GUILESS_MAIN(CudaStepsFp32Test)
#include "cuda_steps_fp32_test.moc"
