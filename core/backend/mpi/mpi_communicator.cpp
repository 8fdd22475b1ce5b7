// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/mpi/mpi_communicator.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace normscope {

namespace {

using namespace std::chrono_literals;

constexpr auto kShortest = 20us, kLongest = 1000us;  ///< of the pauses
constexpr auto kLookForPeers = 50ms;
constexpr auto kGrace = 250ms;
/// MPI counts in int; in these units 8 GB.
const MPI_Datatype kUnit = MPI_FLOAT;
constexpr std::size_t kUnitBytes = 4;

void check(int result) {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw SystemError("MPI: " + std::string(text, static_cast<std::size_t>(length)));
}

int units(std::size_t bytes) {
    const std::size_t count = bytes / kUnitBytes;
    if (bytes % kUnitBytes != 0 || count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw SystemError("MPI: a message of " + std::to_string(bytes) +
                          " bytes, allowed: multiples of 4 to 8 GB");
    return static_cast<int>(count);
}

/// The blocks of one rank as a type of MPI's, by their addresses; one element of it, or none.
class BlocksType {
  public:
    explicit BlocksType(const std::vector<Communicator::Block>& blocks) {
        std::vector<int> lengths;
        std::vector<MPI_Aint> addresses;
        for (const auto& block : blocks) {
            if (block.bytes == 0) continue;
            lengths.push_back(units(block.bytes));
            MPI_Get_address(block.data, &addresses.emplace_back());
        }
        if (lengths.empty()) return;
        check(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(),
                                       kUnit, &type_));
        check(MPI_Type_commit(&type_));
        count_ = 1;
    }
    BlocksType(BlocksType&& other) noexcept
        : type_(std::exchange(other.type_, kUnit)), count_(std::exchange(other.count_, 0)) {}
    BlocksType& operator=(BlocksType&&) = delete;
    ~BlocksType() {
        if (count_ > 0) MPI_Type_free(&type_);
    }
    MPI_Datatype type() const { return type_; }
    int count() const { return count_; }

  private:
    MPI_Datatype type_ = kUnit;
    int count_ = 0;
};

/// Of all ranks, as MPI_Ialltoallw takes them.
struct Types {
    explicit Types(const std::vector<std::vector<Communicator::Block>>& blocks) {
        for (const auto& of_rank : blocks) {
            owned.emplace_back(of_rank);
            types.push_back(owned.back().type());
            counts.push_back(owned.back().count());
            places.push_back(0);
            for (const auto& block : of_rank) bytes += block.bytes;
        }
    }
    std::vector<BlocksType> owned;
    std::vector<MPI_Datatype> types;
    std::vector<int> counts, places;
    std::size_t bytes = 0;
};

}  // namespace

MpiCommunicator::MpiCommunicator(bool (*stop_wanted)()) : stop_wanted_(stop_wanted) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_));
    peers_ = gathered(*this, this_process());
}

void MpiCommunicator::throw_if_lost() const {
    for (std::size_t r = 0; r < peers_.size(); ++r)
        if (has_ended(peers_[r], peers_[static_cast<std::size_t>(rank_)]))
            throw LostRank("rank " + std::to_string(r) + " of " + std::to_string(size_) + " was lost");
}

int MpiCommunicator::local_ranks(int below) const {
    const std::uint64_t here = peers_[static_cast<std::size_t>(rank_)].machine;
    if (here == 0) return 0;
    return static_cast<int>(std::count_if(peers_.begin(), peers_.begin() + below,
                                          [&](const Peer& peer) { return peer.machine == here; }));
}

void MpiCommunicator::wait(MPI_Request request, std::size_t bytes) {
    wait_for(
        [&] {
            int done = 0;
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            return done != 0;
        },
        bytes);
}

void MpiCommunicator::wait_for(const std::function<bool()>& done, std::size_t bytes) {
    const auto begin = Clock::now();
    // MPI moves data in its calls: while this rank pauses, nothing moves. So long as moving the data may
    // take, there are no pauses.
    const auto moving = begin + 100us + std::chrono::nanoseconds(20 * bytes);
    auto looked = begin;
    std::optional<Clock::time_point> stopping;
    auto pause = std::chrono::duration_cast<Clock::duration>(kShortest);
    while (!done()) {
        const auto now = Clock::now();
        if (now < moving) {
            sched_yield();
            continue;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<Clock::duration>(2 * pause, kLongest);
        if (now - looked >= kLookForPeers) {
            looked = now;
            throw_if_lost();
        }
        if (!stopping && stop_wanted_()) stopping = now;
        // Others may be in a step or a sample, which are about as long as they were.
        if (stopping && now - *stopping > kGrace + 2 * longest_wait_)
            throw LostRank("another of the " + std::to_string(size_) + " ranks does not answer");
    }
    longest_wait_ = std::max(longest_wait_, Clock::now() - begin);
}

void MpiCommunicator::all_gather(void* all, const std::vector<std::size_t>& ends) {
    std::vector<int> counts, places;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        places.push_back(units(begin));
        counts.push_back(units(end - begin));
        begin = end;
    }
    MPI_Request request;
    check(MPI_Iallgatherv(MPI_IN_PLACE, 0, kUnit, all, counts.data(), places.data(), kUnit, MPI_COMM_WORLD,
                          &request));
    wait(request, begin);
}

void MpiCommunicator::all_to_all(const std::vector<std::vector<Block>>& to,
                                 const std::vector<std::vector<Block>>& from) {
    const Types sent(to), received(from);
    MPI_Request request;
    check(MPI_Ialltoallw(MPI_BOTTOM, sent.counts.data(), sent.places.data(), sent.types.data(), MPI_BOTTOM,
                         received.counts.data(), received.places.data(), received.types.data(),
                         MPI_COMM_WORLD, &request));
    wait(request, sent.bytes + received.bytes);
}

void MpiCommunicator::abort(int code) noexcept {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
}

}  // namespace normscope
