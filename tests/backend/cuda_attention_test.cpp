// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on the emulated CUDA device: forward, VJP and JVP (cuda_verify.h).
#include "tests/backend/attention_operations.h"
#include "tests/backend/cuda_verify.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::device_side;

class CudaAttentionTest : public QObject {
    Q_OBJECT

    static constexpr int kManySchedules = 5;  // the small ones

  private Q_SLOTS:
    void attention_data() {
        QTest::addColumn<int>("given");
        int k = 0;
        for (const auto& given : operations::kAttentionCases) QTest::newRow(given.name) << k++;
    }
    void attention() {
        QFETCH(int, given);
        operations::attention(verify_in(kScalars, given < kManySchedules ? 4 : 2),
                              operations::kAttentionCases[given]);
    }

    void cleanupTestCase() { error_table().print(); }
};

NORMSCOPE_TEST(CudaAttentionTest)
#include "cuda_attention_test.moc"
