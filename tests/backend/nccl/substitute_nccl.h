// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nccl.h>

#include <cstdint>

namespace normscope::test {

/// NCCL and the CUDA runtime's streams and events, in place of the libraries, for ranks that are threads:
/// "card" memory is the host's. A communicator is ready when all of its ranks have asked for it; a message is
/// copied when both ends have been posted by a group, and a send of another size than its receive is an
/// error.
namespace nccl {

/// Everything below is forgotten. Card c of the process has the UUID of card c modulo `cards`.
void reset(int cards);

/// What async_error reports in all ranks, after so many good answers; nothing arrives from then on.
void fail_with(ncclResult_t result, int after = 0);

struct Counts {
    int made = 0, finalized = 0, destroyed = 0, aborted = 0;  ///< communicators
    int streams = 0, events = 0;                              ///< that there are
    std::int64_t bytes = 0;                                   ///< that were copied
};
Counts counts();

}  // namespace nccl

}  // namespace normscope::test
