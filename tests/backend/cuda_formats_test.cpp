// SPDX-License-Identifier: GPL-3.0-or-later
// Every operation in BF16 and FP16, pure and under autocast, on the emulated CUDA device and the CPU
// (operations.h, cuda_verify.h): how far from float64 on the rounded inputs, and that the same outputs are
// rounded.
#include "tests/backend/attention_operations.h"
#include "tests/backend/cuda_verify.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::device_side;

class CudaFormatsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void operations_data() {
        QTest::addColumn<int>("format");
        QTest::addColumn<int>("size");
        for (int f = 0; f < 4; ++f)
            for (int s = 0; s < int(std::size(kTableSizes)); ++s)
                QTest::addRow("%s %d x %d x %d", kFormats[f].name, kTableSizes[s].sequences,
                              kTableSizes[s].tokens, kTableSizes[s].d)
                    << f << s;
    }
    void operations() {
        QFETCH(int, format);
        QFETCH(int, size);
        const Format formats[] = {kFormats[format]};
        operations::of_a_pass(verify_in(formats, 1), kTableSizes[size]);
    }

    void attention_data() {
        QTest::addColumn<int>("format");
        QTest::addColumn<int>("given");
        for (int f = 0; f < 4; ++f)
            for (int k = 0; k < int(std::size(operations::kAttentionCases)); ++k)
                QTest::addRow("%s, %s", kFormats[f].name, operations::kAttentionCases[k].name) << f << k;
    }
    void attention() {
        QFETCH(int, format);
        QFETCH(int, given);
        const Format formats[] = {kFormats[format]};
        operations::attention(verify_in(formats, 1), operations::kAttentionCases[given]);
    }

    void cleanupTestCase() { error_table().print(); }
};

NORMSCOPE_TEST(CudaFormatsTest)
#include "cuda_formats_test.moc"
