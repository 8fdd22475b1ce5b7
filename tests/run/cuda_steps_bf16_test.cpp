// SPDX-License-Identifier: GPL-3.0-or-later
// Twenty steps in BF16 (twenty_steps.h).
#include "tests/run/twenty_steps.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::twenty_steps;

class CudaStepsBf16Test : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void pure_data() { add_stacks(); }
    void pure() { verify(compare(recipe_of(fetch_stack(), {"precision=bf16"})), of_unit(0x1p-8)); }
    void autocast_data() { add_stacks(); }
    void autocast() {
        verify(compare(recipe_of(fetch_stack(), {"precision=bf16", "precision_policy=autocast"})),
               of_unit(0x1p-8));
    }
};

NORMSCOPE_TEST(CudaStepsBf16Test)
#include "cuda_steps_bf16_test.moc"
