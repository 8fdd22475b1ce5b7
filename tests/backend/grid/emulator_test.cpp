// SPDX-License-Identifier: GPL-3.0-or-later
// The emulator against its own faults: a sound kernel passes on every seed with the same bits, a faulty one
// is named.
#include "core/backend/grid/emulator.h"

#include "core/backend/shared/low_precision.h"
#include "sample_kernels.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <vector>

using namespace normscope;
using namespace normscope::grid;
using namespace normscope::grid::sample;

namespace {

constexpr int kSeeds = 20;

template <class T>
class Array {
  public:
    explicit Array(std::size_t count)
        : data_(static_cast<T*>(device_memory().allocate(count * sizeof(T)))), count_(count) {}
    explicit Array(const std::vector<T>& values) : Array(values.size()) {
        device_memory().host_wrote(data_, count_ * sizeof(T));
        std::copy(values.begin(), values.end(), data_);
    }
    ~Array() { device_memory().release(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() { return data_; }  // NOLINT: a kernel's argument
    std::vector<T> values() const {
        if (accesses_checked()) device_memory().host_reads(data_, count_ * sizeof(T), "a copy to the host");
        return {data_, data_ + count_};
    }

  private:
    T* data_;
    std::size_t count_;
};

std::vector<float> ramp(int count, float step) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(i)) * step);
    return values;
}

/// The fault of the launch, or an empty text.
template <class Run>
QString fault_of(std::uint64_t seed, Run run) {
    set_schedule({Schedule::Order::Drawn, seed});
    try {
        run();
    } catch (const GridFault& fault) {
        return fault.what();
    }
    return {};
}

/// Every seed finds it.
template <class Run>
void always(const char* text, Run run) {
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const QString fault = fault_of(static_cast<std::uint64_t>(seed), run);
        QVERIFY2(fault.contains(text), qPrintable(QString("seed %1: “%2”").arg(seed).arg(fault)));
    }
}

bool sum_of_rows(Fault fault, std::vector<float>* sums = nullptr) {
    Array<float> x(ramp(5 * 200, 1)), out(5);
    row_sums(fault, x, 5, 200, out);
    if (sums) *sums = out.values();
    return true;
}

bool sum_in_order(Fault fault, float* total = nullptr) {
    Array<float> x(ramp(1000, 1)), parts(8), result(1);
    Array<unsigned> ticket(std::vector<unsigned>{0});
    ordered_sum(fault, x, 1000, 8, parts, ticket, result);
    if (total) *total = result.values()[0];
    return ticket.values()[0] == 0;
}

struct Product {
    static constexpr int M = 32, N = 24, K = 64;
    std::vector<std::uint16_t> a, b;
    std::vector<double> expected = std::vector<double>(M * N);
    explicit Product(bool bf16) {
        const auto x = ramp(M * K, 1), y = ramp(K * N, 2);
        std::vector<double> left, right;
        const auto put = [&](float v, std::vector<std::uint16_t>& bits, std::vector<double>& values) {
            const float r = bf16 ? round_to_bf16(v) : round_to_fp16(v);
            values.push_back(static_cast<double>(r));
            if (bf16) {
                bits.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(r) >> 16));
                return;
            }
            // Normal numbers only: exponent −14 … 15.
            const auto u = std::bit_cast<std::uint32_t>(r);
            const int exponent = static_cast<int>(u >> 23 & 0xff) - 127 + 15;
            bits.push_back(r == 0 ? 0
                                  : static_cast<std::uint16_t>((u >> 16 & 0x8000) |
                                                               static_cast<unsigned>(exponent) << 10 |
                                                               (u >> 13 & 0x3ff)));
        };
        for (float v : x) put(std::abs(v) < 1e-3f ? 0 : v, a, left);
        for (float v : y) put(std::abs(v) < 1e-3f ? 0 : v, b, right);
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < N; ++j)
                for (int k = 0; k < K; ++k)
                    expected[static_cast<std::size_t>(i * N + j)] +=
                        left[static_cast<std::size_t>(i * K + k)] *
                        right[static_cast<std::size_t>(k * N + j)];
    }
    std::vector<float> made(Fault fault, bool bf16) const {
        Array<std::uint16_t> A(a), B(b);
        Array<float> C(M * N);
        gemm(fault, bf16, A, B, M, N, K, C);
        return C.values();
    }
};

}  // namespace

class EmulatorTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void rowsAreSummedOnEverySeedWithTheSameBits() {
        std::vector<float> first;
        sum_of_rows(Fault::None, &first);
        const auto x = ramp(5 * 200, 1);
        for (int row = 0; row < 5; ++row) {
            double sum = 0;
            for (int i = 0; i < 200; ++i)
                sum += static_cast<double>(x[static_cast<std::size_t>(row * 200 + i)]);
            QVERIFY(std::abs(static_cast<double>(first[static_cast<std::size_t>(row)]) - sum) < 1e-5);
        }
        for (int seed = 1; seed <= kSeeds; ++seed) {
            set_schedule({Schedule::Order::Drawn, static_cast<std::uint64_t>(seed)});
            std::vector<float> sums;
            sum_of_rows(Fault::None, &sums);
            QCOMPARE(sums, first);
        }
        set_schedule({Schedule::Order::Ascending, 0});
        std::vector<float> sums;
        sum_of_rows(Fault::None, &sums);
        QCOMPARE(sums, first);
    }

    /// A dropped step of a reduction is no race: only the comparison sees it.
    void aDroppedStepIsAWrongNumber() {
        std::vector<float> good, bad;
        sum_of_rows(Fault::None, &good);
        sum_of_rows(Fault::DroppedStep, &bad);
        QVERIFY(good != bad);
    }

    void lanesMustAllCome() {
        always("warp function", [] { sum_of_rows(Fault::MissingLane); });
    }

    void aBarrierIsForAllThreadsOfABlock() {
        always("another barrier", [] { sum_of_rows(Fault::OtherBarrier); });
    }

#ifndef NORMSCOPE_UNCHECKED_KERNELS  // sanitized builds bring a runtime of their own and check no access
    void aMissingBarrierIsFound() {
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const QString fault =
                fault_of(static_cast<std::uint64_t>(seed), [] { sum_of_rows(Fault::MissingBarrier); });
            QVERIFY2(fault.contains("without a barrier") || fault.contains("reads uninitialised"),
                     qPrintable(fault));
        }
    }

    void boundsAreChecked() {
        always("reads out of bounds", [] { sum_of_rows(Fault::IndexTooLarge); });
        always("writes out of bounds", [] { sum_of_rows(Fault::WritePastEnd); });
    }

    void checksCanBeOff() {
        const auto fault = [](bool checked) {
            set_schedule({Schedule::Order::Drawn, 1, checked});
            try {  // it reads a row that another one follows, or the gap after the last
                sum_of_rows(Fault::IndexTooLarge);
            } catch (const GridFault& found) {
                return QString(found.what());
            }
            return QString();
        };
        QCOMPARE(fault(false), QString());
        QVERIFY(fault(true).contains("reads out of bounds"));
        set_schedule({});
    }

    void sharedMemoryIsNotInitialised() {
        always("reads uninitialised", [] { sum_of_rows(Fault::UninitialisedTail); });
    }

    void hostMemoryIsOutOfReach() {
        always("memory of the host", [] { sum_of_rows(Fault::HostPointer); });
    }

    void aWarpNeedsItsBarrierToo() {
        std::vector<float> values = ramp(32, 1);
        Array<float> x(values), out(32);
        reverse(Fault::None, x, out);
        std::reverse(values.begin(), values.end());
        QCOMPARE(out.values(), values);
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const QString fault =
                fault_of(static_cast<std::uint64_t>(seed), [&] { reverse(Fault::MissingWarpSync, x, out); });
            QVERIFY2(fault.contains("without a barrier") || fault.contains("reads uninitialised"),
                     qPrintable(fault));
        }
    }

    /// Also where the writer itself was the last to read.
    void aWriterHasOtherReaders() {
        Array<float> x(std::vector<float>{3}), out(32);
        QCOMPARE(fault_of(1, [&] { copy_and_double(Fault::None, x, out); }), QString());
        QCOMPARE(x.values(), std::vector<float>{6});
        QCOMPARE(out.values(), std::vector<float>(32, 3));
        always("without a barrier", [&] { copy_and_double(Fault::MissingWarpSync, x, out); });
    }

    void blocksAreOrderedByFenceAndAtomic() {
        always("without a barrier", [] { sum_in_order(Fault::MissingFence); });
    }

    void aCopyMustBeWaitedFor() {
        const Product product(true);
        always("reads uninitialised", [&] { product.made(Fault::MissingWait, true); });
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const QString fault =
                fault_of(static_cast<std::uint64_t>(seed), [&] { product.made(Fault::EarlyReuse, true); });
            QVERIFY2(!fault.isEmpty(), qPrintable(QString("seed %1").arg(seed)));
        }
    }
#endif

    void theLastBlockSumsInOrder() {
        float first = 0;
        QVERIFY(sum_in_order(Fault::None, &first));
        for (int seed = 1; seed <= kSeeds; ++seed) {
            set_schedule({Schedule::Order::Drawn, static_cast<std::uint64_t>(seed)});
            float total = 0;
            QVERIFY(sum_in_order(Fault::None, &total));
            QCOMPARE(total, first);
        }
    }

    /// Atomics of floats are no race either; bits that differ between seeds show them.
    void theOrderOfAtomicsShowsInTheBits() {
        std::vector<float> seen;
        for (int seed = 1; seed <= kSeeds; ++seed) {
            set_schedule({Schedule::Order::Drawn, static_cast<std::uint64_t>(seed)});
            Array<float> x(ramp(1000, 1)), total(std::vector<float>{0});
            atomic_sum(x, 1000, 16, total);
            seen.push_back(total.values()[0]);
        }
        QVERIFY(std::any_of(seen.begin(), seen.end(), [&](float v) { return v != seen.front(); }));
    }

    void aReductionIsItsShuffles() {
        for (int seed = 1; seed <= 5; ++seed) {
            set_schedule({Schedule::Order::Drawn, static_cast<std::uint64_t>(seed)});
            Array<float> x(ramp(32, 1)), shuffled(32), reduced(32);
            warp_sums(true, x, shuffled);
            warp_sums(false, x, reduced);
            QCOMPARE(reduced.values(), shuffled.values());
        }
    }

    void tensorCoresMultiply_data() {
        QTest::addColumn<bool>("bf16");
        QTest::newRow("bf16") << true;
        QTest::newRow("fp16") << false;
    }
    void tensorCoresMultiply() {
        QFETCH(bool, bf16);
        const Product product(bf16);
        for (int seed = 1; seed <= 5; ++seed) {
            set_schedule({Schedule::Order::Drawn, static_cast<std::uint64_t>(seed)});
            const std::vector<float> made = product.made(Fault::None, bf16);
            for (std::size_t i = 0; i < made.size(); ++i)
                QVERIFY(std::abs(static_cast<double>(made[i]) - product.expected[i]) < 1e-5);
        }
    }

    void tensorCoresMultiplyInTf32() {
        std::vector<float> a = ramp(16 * 8, 1), b = ramp(8 * 8, 3);
        Array<float> A(a), B(b), C(16 * 8);
        gemm_tf32(A, B, C);
        const auto cut = [](float v) {
            return static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & 0xffffe000u));
        };
        const auto made = C.values();
        for (std::size_t i = 0; i < 16; ++i)
            for (std::size_t j = 0; j < 8; ++j) {
                double sum = 0;
                for (std::size_t k = 0; k < 8; ++k) sum += cut(a[i * 8 + k]) * cut(b[k * 8 + j]);
                QVERIFY(std::abs(static_cast<double>(made[i * 8 + j]) - sum) < 1e-6);
            }
    }

    void indicesHaveThreeDimensions() {
        std::vector<float> values = ramp(280, 1);
        Array<float> x(values);
        doubled(x, 280);
        for (float& v : values) v *= 2;
        QCOMPARE(x.values(), values);
    }

    void limitsOfABlockAreLimits() {
        QVERIFY(fault_of(1, [] { too_many_threads(); }).contains("1025 threads, allowed 1 … 1024"));
        QVERIFY(fault_of(1, [] { too_much_shared(); }).contains("more shared memory"));
    }

    void memoryIsAllocatedAndReleased() {
        CheckedMemory memory(1 << 16);
        void* a = memory.allocate(1000);
        void* b = memory.allocate(1000);
        QVERIFY(static_cast<char*>(b) - static_cast<char*>(a) >= 1064);
        memory.release(a);
        QCOMPARE(memory.allocate(900), a);
        QVERIFY_EXCEPTION_THROWN(memory.allocate(1 << 16), GridFault);
        QVERIFY_EXCEPTION_THROWN(memory.release(static_cast<char*>(b) + 8), GridFault);
        QVERIFY_EXCEPTION_THROWN(memory.host_reads(b, 8, "a copy"), GridFault);  // uninitialised
        memory.host_wrote(b, 1000);
        memory.host_reads(b, 1000, "a copy");
        QVERIFY_EXCEPTION_THROWN(memory.host_wrote(b, 1002), GridFault);
    }
};

NORMSCOPE_TEST(EmulatorTest)
#include "emulator_test.moc"
