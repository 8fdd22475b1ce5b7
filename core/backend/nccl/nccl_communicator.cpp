// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/nccl/nccl_communicator.h"

#include "core/backend/cuda/launch/check.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace normscope::cuda {

namespace {

using Uuid = std::array<char, 16>;

Uuid uuid_of(int card) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, card), "asking for the card");
    Uuid uuid;
    std::memcpy(uuid.data(), properties.uuid.bytes, uuid.size());
    return uuid;
}

}  // namespace

NcclCommunicator::NcclCommunicator(HostCommunicator& host, int card)
    : host_(host), card_(card), nccl_(nccl_functions()) {
    if (!nccl_.missing.empty()) throw SystemError(nccl_.missing);
    check(cudaSetDevice(card_), "selecting the card");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    if (const cudaError_t error = cudaEventCreateWithFlags(&done_, cudaEventDisableTiming)) {
        cudaStreamDestroy(stream_);
        check(error, "creating an event");
    }
}

NcclCommunicator::~NcclCommunicator() {
    abandon();
    cudaEventDestroy(done_);
    cudaStreamDestroy(stream_);
}

void NcclCommunicator::throw_if_failed(ncclResult_t result) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const std::string text = std::string("NCCL: ") + nccl_.error_string(result);
    if (result == ncclRemoteError) throw LostRank(text);
    const char* const more = nccl_.last_error(communicator_);
    std::string line = more ? more : "";
    while (!line.empty() && line.back() == '\n') line.pop_back();
    throw SystemError(line.empty() ? text : text + " (" + line.substr(line.rfind('\n') + 1) + ")");
}

void NcclCommunicator::abandon() noexcept {
    if (const ncclComm_t lost = std::exchange(communicator_, nullptr)) nccl_.abort(lost);
}

void NcclCommunicator::wait_until_taken() {
    host_.wait_for(
        [&] {
            ncclResult_t state = ncclSuccess;
            throw_if_failed(nccl_.async_error(communicator_, &state));
            throw_if_failed(state);
            return state != ncclInProgress;
        },
        0);
}

void NcclCommunicator::connect() {
    const std::vector<Uuid> cards = gathered(host_, uuid_of(card_));
    for (std::size_t r = 0; r < cards.size(); ++r)
        for (std::size_t other = 0; other < r; ++other)
            if (cards[r] == cards[other])
                throw InputError(
                    "--ranks",
                    "ranks " + std::to_string(other) + " and " + std::to_string(r) + " have the same card",
                    "a card for each rank");
    ncclUniqueId id{};
    if (rank() == 0) throw_if_failed(nccl_.get_unique_id(&id));
    id = gathered(host_, id)[0];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(cudaSetDevice(card_), "selecting the card");
    try {
        throw_if_failed(nccl_.init_rank(&communicator_, size(), id, rank(), &config));
        wait_until_taken();
    } catch (...) {
        abandon();
        throw;
    }
}

void NcclCommunicator::close() {
    if (!communicator_) return;
    try {
        throw_if_failed(nccl_.finalize(communicator_));
        wait_until_taken();
        nccl_.destroy(std::exchange(communicator_, nullptr));
    } catch (...) {
        abandon();
        throw;
    }
}

void NcclCommunicator::exchange(std::size_t bytes, const std::function<void()>& calls) {
    if (!communicator_) throw SystemError("NCCL: the ranks are not connected");
    try {
        check(cudaSetDevice(card_), "selecting the card");
        throw_if_failed(nccl_.group_start());
        calls();
        throw_if_failed(nccl_.group_end());
        wait_until_taken();
        check(cudaEventRecord(done_, stream_), "recording an event");
        host_.wait_for(
            [&] {
                const cudaError_t state = cudaEventQuery(done_);
                if (state == cudaErrorNotReady) {
                    ncclResult_t error = ncclSuccess;
                    throw_if_failed(nccl_.async_error(communicator_, &error));
                    throw_if_failed(error);
                    return false;
                }
                check(state, "exchanging values with other ranks");
                return true;
            },
            bytes);
    } catch (...) {
        abandon();
        throw;
    }
}

void NcclCommunicator::all_gather(void* all, const std::vector<std::size_t>& ends) {
    exchange(ends.back(), [&] {
        std::size_t begin = 0;
        for (std::size_t r = 0; r < ends.size(); ++r) {
            char* const part = static_cast<char*>(all) + begin;
            if (ends[r] > begin)
                throw_if_failed(nccl_.broadcast(part, part, ends[r] - begin, ncclInt8, static_cast<int>(r),
                                                communicator_, stream_));
            begin = ends[r];
        }
    });
}

void NcclCommunicator::all_to_all(const std::vector<std::vector<Block>>& to,
                                  const std::vector<std::vector<Block>>& from) {
    std::size_t bytes = 0;
    for (const auto& blocks : from)
        for (const Block& block : blocks) bytes += block.bytes;
    exchange(bytes, [&] {
        for (std::size_t r = 0; r < to.size(); ++r) {
            for (const Block& block : to[r])
                if (block.bytes > 0)
                    throw_if_failed(nccl_.send(block.data, block.bytes, ncclInt8, static_cast<int>(r),
                                               communicator_, stream_));
            for (const Block& block : from[r])
                if (block.bytes > 0)
                    throw_if_failed(nccl_.receive(block.data, block.bytes, ncclInt8, static_cast<int>(r),
                                                  communicator_, stream_));
        }
    });
}

}  // namespace normscope::cuda
