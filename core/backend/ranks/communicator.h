// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

namespace normscope {

/// A rank that does not answer: it was killed, or its machine was lost. The others can exchange nothing more.
class LostRank : public SystemError {
  public:
    using SystemError::SystemError;
};

/// The processes that train one stack together: rank() = 0 … size() − 1. Every rank makes the same calls in
/// the same order, with the same sizes; a call returns when its memory may be read and written. Addresses are
/// of the device that it is for, whose earlier calls are done. Sizes are multiples of four bytes. Errors:
/// LostRank, and SystemError of the library below. One thread at a time.
class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    /// Of an array of all ranks, rank r has the bytes from ends[r − 1] (0 for the first) to ends[r];
    /// afterwards each has all of it.
    virtual void all_gather(void* all, const std::vector<std::size_t>& ends) = 0;

    struct Block {
        void* data;
        std::size_t bytes;
    };
    /// Sends the blocks to[r] to rank r, where they arrive in its from[rank()], block by block of the same
    /// size.
    virtual void all_to_all(const std::vector<std::vector<Block>>& to,
                            const std::vector<std::vector<Block>>& from) = 0;
};

/// The processes of a launcher. Memory is the host's.
class HostCommunicator : public Communicator {
  public:
    /// Of the ranks of this machine: how many are lower, and how many there are.
    virtual int local_rank() const = 0;
    virtual int local_size() const = 0;

    /// Calls done() until it is true, without a pause for as long as it may take to move so many bytes. For
    /// what completes where all ranks take part: LostRank where one has ended, or where this one is asked to
    /// end and it does not complete.
    virtual void wait_for(const std::function<bool()>& done, std::size_t bytes) = 0;

    /// Ends the processes of all ranks, this one with the exit code; for a rank that the others would wait
    /// for.
    [[noreturn]] virtual void abort(int code) noexcept = 0;
};

/// The same processes with a card each. Memory is that of the card. Not for use before connect(), which all
/// ranks call, nor after close(), which all call when they have ended their work; without connect() it does
/// nothing.
class CardCommunicator : public Communicator {
  public:
    /// InputError, in all ranks, where two of them have the same card.
    virtual void connect() = 0;
    virtual void close() = 0;
};

/// A value of each rank, in their order; T is plain data.
template <class T>
std::vector<T> gathered(HostCommunicator& ranks, const T& mine) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
    std::vector<T> all(static_cast<std::size_t>(ranks.size()));
    all[static_cast<std::size_t>(ranks.rank())] = mine;
    std::vector<std::size_t> ends;
    for (std::size_t r = 1; r <= all.size(); ++r) ends.push_back(r * sizeof(T));
    ranks.all_gather(all.data(), ends);
    return all;
}

}  // namespace normscope
