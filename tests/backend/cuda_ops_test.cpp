// SPDX-License-Identifier: GPL-3.0-or-later
// Every operation of the emulated CUDA device but attention, in float32 and float64 (operations.h,
// cuda_verify.h).
#include "tests/backend/cuda_verify.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::device_side;

class CudaOpsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void coefficients() { operations::coefficients(verify); }

    /// The bits of a row do not depend on the number of rows.
    void rowsAreIndependent() {
        constexpr int R = 77, d = 37;
        const auto rows_of = [&]<class T>(int count, T) {
            EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
            Side<T> s(device);
            auto* y = s.out(area(count, d));
            s.layers.linear(count, d, d, s.in(drawn(area(count, d), 1)),
                            {s.in(drawn(area(d, d), 2)), nullptr, nullptr}, y);
            auto* normed = s.out(area(count, d));
            s.layers.norm_forward(
                {NormKind::LayerNorm, count, d, y, {s.out(R), s.out(R)}, s.in(drawn(d, 3)), nullptr},
                s.scalar_in(1e-5), nullptr, normed);
            return s.read(normed, d);
        };
        QVERIFY(rows_of(R, float()) == rows_of(1, float()));
        QVERIFY(rows_of(R, double()) == rows_of(1, double()));
    }

    void operationsOfAPass_data() {
        QTest::addColumn<int>("size");
        int k = 0;
        for (const Sizes& size : kTableSizes)
            QTest::addRow("%d x %d x %d", size.sequences, size.tokens, size.d) << k++;
    }
    void operationsOfAPass() {
        QFETCH(int, size);
        operations::of_a_pass(verify, kTableSizes[size]);
    }

    void reductions() { operations::reductions(verify); }

    void clipping() { operations::clipping(verify); }
    void stepControl() { operations::step_control(verify); }

    void optimizers_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("adamw") << 0;
        QTest::newRow("adam") << 1;
        QTest::newRow("sgd") << 2;
    }
    void optimizers() {
        QFETCH(int, kind);
        operations::optimizers(verify, kind);
    }

    void muon() { operations::muon(verify); }

    void cleanupTestCase() { error_table().print(); }
};

NORMSCOPE_TEST(CudaOpsTest)
#include "cuda_ops_test.moc"
