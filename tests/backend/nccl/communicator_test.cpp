// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks with a card each, by a substitute for NCCL and the CUDA runtime (substitute_nccl.h).
#include "core/backend/nccl/nccl_communicator.h"
#include "tests/backend/nccl/substitute_nccl.h"
#include "tests/support/test_main.h"
#include "tests/support/thread_ranks.h"

#include <QtTest>
#include <numeric>

using namespace normscope;
using cuda::NcclCommunicator;
using test::ThreadRanks;

namespace {

/// What rank r sends to rank s as value i of block b.
std::int32_t value_of(int r, int s, int b, int i) {
    return 1000 * r + 100 * s + 10 * b + i;
}

void gather(Communicator& ranks) {
    // Parts of different sizes, that of the second rank empty.
    const std::vector<std::size_t> ends{8, 8, 20};
    std::vector<std::int32_t> all(5, -1);
    const int rank = ranks.rank();
    for (std::size_t i = 0; i < 5; ++i)
        if ((i < 2 && rank == 0) || (i >= 2 && rank == 2)) all[i] = static_cast<std::int32_t>(10 + i);
    ranks.all_gather(all.data(), ends);
    if (all != std::vector<std::int32_t>{10, 11, 12, 13, 14}) throw std::runtime_error("gathered");
}

/// Rank r sends to rank s blocks of 1, 2, … r + 1 values, itself included.
void exchange(Communicator& ranks) {
    const int size = ranks.size(), rank = ranks.rank();
    std::vector<std::vector<Communicator::Block>> to(static_cast<std::size_t>(size)), from(to.size());
    std::vector<std::vector<std::vector<std::int32_t>>> sent(to.size()), received(to.size());
    for (int s = 0; s < size; ++s) {
        const auto at = static_cast<std::size_t>(s);
        for (int b = 0; b <= rank; ++b) {
            auto& block = sent[at].emplace_back();
            for (int i = 0; i <= b; ++i) block.push_back(value_of(rank, s, b, i));
        }
        for (auto& block : sent[at]) to[at].push_back({block.data(), block.size() * 4});
        for (int b = 0; b <= s; ++b) received[at].emplace_back(static_cast<std::size_t>(b) + 1);
        for (auto& block : received[at]) from[at].push_back({block.data(), block.size() * 4});
    }
    ranks.all_to_all(to, from);
    for (int s = 0; s < size; ++s)
        for (int b = 0; b <= s; ++b)
            for (int i = 0; i <= b; ++i)
                if (received[static_cast<std::size_t>(s)][static_cast<std::size_t>(b)]
                            [static_cast<std::size_t>(i)] != value_of(s, rank, b, i))
                    throw std::runtime_error("exchanged");
}

/// The one line of what `work` throws in the first rank that throws; each rank has a communicator.
template <class Error>
QString error_of(int size, const std::function<void(NcclCommunicator&)>& work) {
    try {
        ThreadRanks(size).run([&](HostCommunicator& host) {
            NcclCommunicator cards(host, host.rank());
            work(cards);
        });
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    } catch (const std::exception& error) {
        return QString("another exception: ") + error.what();
    }
    return "none";
}

}  // namespace

class CardCommunicatorTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void cleanup() {
        const auto counts = test::nccl::counts();
        QCOMPARE(counts.streams, 0);
        QCOMPARE(counts.events, 0);
        QCOMPARE(counts.destroyed + counts.aborted, counts.made);
    }

    void valuesArriveWhereTheyBelong() {
        test::nccl::reset(3);
        ThreadRanks(3).run([](HostCommunicator& host) {
            NcclCommunicator cards(host, host.rank());
            cards.connect();
            for (int repeated = 0; repeated < 20; ++repeated) {
                gather(cards);
                exchange(cards);
            }
            cards.close();
        });
        const auto counts = test::nccl::counts();
        QCOMPARE(counts.made, 3);
        QCOMPARE(counts.finalized, 3);
        QCOMPARE(counts.destroyed, 3);
        // A gather moves each part to two ranks; a rank r sends (r + 1)(r + 2)/2 values to each of three.
        QCOMPARE(counts.bytes, std::int64_t{20 * (2 * 20 + 3 * (1 + 3 + 6) * 4)});
    }
    void oneRankExchangesWithItself() {
        test::nccl::reset(1);
        ThreadRanks(1).run([](HostCommunicator& host) {
            NcclCommunicator cards(host, 0);
            cards.connect();
            exchange(cards);
            float all[2] = {1, 2};
            cards.all_gather(all, {8});
            if (all[0] != 1 || all[1] != 2) throw std::runtime_error("gathered");
            cards.close();
        });
        QCOMPARE(test::nccl::counts().destroyed, 1);
    }
    void ranksWithOneCardAreAnErrorInAll() {
        test::nccl::reset(2);
        std::atomic<int> errors = 0;
        ThreadRanks(3).run([&](HostCommunicator& host) {
            NcclCommunicator cards(host, host.rank());
            try {
                cards.connect();
            } catch (const InputError& error) {
                if (error.what() ==
                    std::string("--ranks: ranks 0 and 2 have the same card, allowed: a card for each rank"))
                    ++errors;
            }
            gathered(host, 0);  // no rank ends while another one reads what it sent
            cards.close();      // of what was never connected
        });
        QCOMPARE(errors.load(), 3);
        QCOMPARE(test::nccl::counts().made, 0);
    }
    /// One of three ends: the others do not wait, and exchange nothing afterwards.
    void aLostRankIsNoticed() {
        test::nccl::reset(3);
        std::atomic<int> lost = 0, later = 0;
        ThreadRanks(3).run([&](HostCommunicator& host) {
            NcclCommunicator cards(host, host.rank());
            cards.connect();
            if (host.rank() == 1) return gather(cards);
            try {
                gather(cards);  // may end after it
                for (;;) exchange(cards);
            } catch (const LostRank&) {
                ++lost;
            }
            try {
                gather(cards);
            } catch (const SystemError& error) {
                later += std::string(error.what()) == "NCCL: the ranks are not connected";
            }
        });
        QCOMPARE(lost.load(), 2);
        QCOMPARE(later.load(), 2);
        QCOMPARE(test::nccl::counts().aborted, 3);
    }
    void whatTheLibraryReports() {
        test::nccl::reset(2);
        const auto fails = [](ncclResult_t with, int after = 0) {
            return [with, after](NcclCommunicator& cards) {
                cards.connect();
                gather_two(cards);
                test::nccl::fail_with(with, after);
                for (int i = 0; i < 20; ++i) gather_two(cards);
            };
        };
        verify_error(error_of<LostRank>(2, fails(ncclRemoteError)), "NCCL: remote process exited");
        test::nccl::reset(2);
        verify_error(error_of<SystemError>(2, fails(ncclSystemError)),
                     "NCCL: unhandled system error (no space on the device)");
        for (int after = 1; after < 8; ++after) {  // when calls are taken, and when they are waited for
            test::nccl::reset(2);
            verify_error(error_of<LostRank>(2, fails(ncclRemoteError, after)), "NCCL: remote process exited");
        }
        // Another size than was sent.
        test::nccl::reset(2);
        const QString text = error_of<SystemError>(2, [](NcclCommunicator& cards) {
            cards.connect();
            std::int32_t all[3] = {};
            cards.all_gather(all, {4, cards.rank() == 0 ? std::size_t{8} : std::size_t{12}});
        });
        verify_error(text, "CUDA: exchanging values with other ranks: a CUDA error");
    }
    void nothingIsExchangedBeforeItIsConnected() {
        test::nccl::reset(1);
        QCOMPARE(error_of<SystemError>(1, [](NcclCommunicator& cards) { gather_two(cards); }),
                 QString("NCCL: the ranks are not connected"));
    }

  private:
    /// Of the first rank, which may see first that the other one has ended.
    static void verify_error(const QString& found, const char* expected) {
        QVERIFY2(found == expected || found == "a rank has ended", qPrintable(found));
    }
    static void gather_two(Communicator& ranks) {
        std::int32_t all[2] = {};
        all[ranks.rank()] = 7;
        ranks.all_gather(all, {4, 8});
        if (all[0] != 7 || (ranks.size() > 1 && all[1] != 7)) throw std::runtime_error("gathered");
    }
};

NORMSCOPE_TEST(CardCommunicatorTest)
#include "communicator_test.moc"
