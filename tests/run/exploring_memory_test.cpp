// SPDX-License-Identifier: GPL-3.0-or-later
// Exploring holds the weights and their transposes alone: gradients and the optimizer's moments are allocated
// by the first step.
#include "core/backend/cpu/cpu_device.h"
#include "core/model/parameters.h"
#include "core/run/experiment.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <map>
#include <mutex>

using namespace normscope;

namespace {

/// The CPU, counting the blocks in use by their size.
class CountingDevice final : public CpuDevice {
  public:
    void* allocate(std::size_t bytes) override {
        void* const block = CpuDevice::allocate(bytes);
        const std::lock_guard lock(mutex_);
        if (block) ++blocks_[bytes];
        return block;
    }
    void release(void* block, std::size_t bytes) noexcept override {
        CpuDevice::release(block, bytes);
        const std::lock_guard lock(mutex_);
        --blocks_[bytes];
    }
    int blocks_of(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        return blocks_[bytes];
    }

  private:
    std::mutex mutex_;
    std::map<std::size_t, int> blocks_;
};

}  // namespace

class ExploringMemoryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theFirstStepAllocatesGradientsAndMoments() {
        Recipe recipe = load_recipe("pre-ln", {"stack.depth=2", "steps=2", "batch=8", "validate.every=0"});
        recipe.probes.clear();
        CountingDevice device;
        ThreadPool pool(2);
        const std::size_t arena = ParameterTable(recipe.stack).size() * sizeof(float);
        Experiment experiment(recipe, "a", "test", nullptr, device);
        for (const char* probe : {"growth", "attention", "theta", "jacobian"})
            experiment.measure(probe, pool);
        QCOMPARE(device.blocks_of(arena), 2);
        experiment.advance(pool);
        // The step's own transposes, the shards' gradients, the first also the total, and two moments.
        QCOMPARE(device.blocks_of(arena), 2 + 1 + device.shards(8) + 2);
    }

    /// A backward pass of a probe needs its own gradients, never a moment.
    void aBackwardPassAllocatesNoMoments() {
        Recipe recipe = load_recipe("pre-ln", {"stack.depth=2", "steps=2", "batch=8", "validate.every=0"});
        recipe.probes.clear();
        CountingDevice device;
        ThreadPool pool(2);
        const std::size_t arena = ParameterTable(recipe.stack).size() * sizeof(float);
        Experiment experiment(recipe, "a", "test", nullptr, device);
        experiment.measure("gradients", pool);
        QCOMPARE(device.blocks_of(arena), 2 + device.shards(8));
    }
};

NORMSCOPE_TEST(ExploringMemoryTest)
#include "exploring_memory_test.moc"
