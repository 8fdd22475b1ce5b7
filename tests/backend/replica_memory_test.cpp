// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of replicas: equal requests have equal places in each part.
#include "core/backend/cuda/launch/replica_memory.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <deque>
#include <random>
#include <vector>

using namespace normscope;
using cuda::ReplicaMemory;

class ReplicaMemoryTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalRequestsHaveEqualPlaces() {
        constexpr std::size_t kEach = 1 << 20;
        const auto memory = std::make_shared<ReplicaMemory>(cpu_device(), 3, kEach);
        std::deque<ReplicaMemory::Part> parts;
        for (int i = 0; i < 3; ++i) parts.emplace_back(memory, i);
        std::mt19937 random(5);
        std::vector<std::vector<std::byte*>> kept(3);
        std::vector<std::size_t> sizes;
        for (int step = 0; step < 2000; ++step) {
            if (!sizes.empty() && random() % 3 == 0) {
                const std::size_t at = random() % sizes.size();
                for (std::size_t i = 0; i < 3; ++i) {
                    QVERIFY(parts[i].release(kept[i][at]));
                    kept[i].erase(kept[i].begin() + static_cast<std::ptrdiff_t>(at));
                }
                sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
                continue;
            }
            const std::size_t bytes = 1 + random() % 20000;
            std::vector<std::byte*> found;
            for (auto& part : parts) found.push_back(static_cast<std::byte*>(part.allocate(bytes)));
            QVERIFY((found[0] == nullptr) == (found[1] == nullptr));
            if (!found[0]) {
                QVERIFY(parts[0].unused() < kEach / 2);  // and what is left is in pieces
                continue;
            }
            QCOMPARE(found[1] - found[0], std::ptrdiff_t{kEach});
            QCOMPARE(found[2] - found[1], std::ptrdiff_t{kEach});
            for (std::size_t k = 0; k < sizes.size(); ++k)  // no block is in another one
                QVERIFY(found[0] + bytes <= kept[0][k] || kept[0][k] + sizes[k] <= found[0]);
            for (std::size_t i = 0; i < 3; ++i) kept[i].push_back(found[i]);
            sizes.push_back(bytes);
        }
        QVERIFY(!parts[1].release(kept[0].front()));  // of another part
        QVERIFY(!parts[0].release(&random));
        for (std::size_t i = 0; i < 3; ++i)
            for (std::byte* block : kept[i]) QVERIFY(parts[i].release(block));
        // What was released is one gap again.
        for (auto& part : parts) {
            QCOMPARE(part.unused(), kEach);
            QVERIFY(part.allocate(kEach) != nullptr);
            QVERIFY(part.allocate(1) == nullptr);
        }
    }
};

NORMSCOPE_TEST(ReplicaMemoryTest)
#include "replica_memory_test.moc"
