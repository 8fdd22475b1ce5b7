// SPDX-License-Identifier: GPL-3.0-or-later
// Every operation of the emulated CUDA device but attention, in float32 and float64 (operations.h,
// cuda_verify.h).
#include "tests/backend/cuda_verify.h"

using namespace normscope;
using namespace normscope::device_side;

class CudaOpsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void coefficients() { operations::coefficients(verify); }

    void memory() { operations::memory(verify); }

    void linearLayers() { operations::linear_layers(verify); }

    /// The bits of a row do not depend on the number of rows.
    void rowsAreIndependent() {
        const auto rows_of = [&]<class T>(int count, T) {
            EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
            Side<T> s(device);
            auto* y = s.out(area(count, d));
            s.ops.linear(count, d, d, s.in(drawn(area(count, d), 1)),
                         {s.in(drawn(area(d, d), 2)), nullptr, nullptr}, y);
            auto* normed = s.out(area(count, d));
            s.ops.norm_forward(
                {NormKind::LayerNorm, count, d, y, {s.out(R), s.out(R)}, s.in(drawn(d, 3)), nullptr},
                s.scalar_in(1e-5), nullptr, normed);
            return s.read(normed, d);
        };
        QVERIFY(rows_of(R, float()) == rows_of(1, float()));
        QVERIFY(rows_of(R, double()) == rows_of(1, double()));
    }

    void columns() { operations::columns(verify); }

    void norms_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("full");
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (const bool full : {false, true})
                QTest::addRow("%s %d", norm_kind_row(kind).word, full) << static_cast<int>(kind) << full;
    }
    void norms() {
        QFETCH(int, kind);
        QFETCH(bool, full);
        operations::norms(verify, static_cast<NormKind>(kind), full);
    }

    void elementwise() { operations::elementwise(verify); }

    void embeddings() { operations::embeddings(verify); }

    void crossEntropy() { operations::cross_entropy(verify); }

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
};

QTEST_GUILESS_MAIN(CudaOpsTest)
#include "cuda_ops_test.moc"
