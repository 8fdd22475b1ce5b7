// SPDX-License-Identifier: GPL-3.0-or-later
// Twenty steps in FP16 (twenty_steps.h).
#include "tests/run/twenty_steps.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::twenty_steps;

class CudaStepsFp16Test : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void pure_data() { add_stacks(); }
    void pure() { verify(compare(recipe_of(fetch_stack(), {"precision=fp16"})), of_unit(0x1p-11)); }
    void autocast_data() { add_stacks(); }
    void autocast() {
        verify(compare(recipe_of(fetch_stack(), {"precision=fp16", "precision_policy=autocast"})),
               of_unit(0x1p-11));
    }
};

NORMSCOPE_TEST(CudaStepsFp16Test)
#include "cuda_steps_fp16_test.moc"
