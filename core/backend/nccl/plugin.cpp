// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/nccl/nccl_communicator.h"
#include "core/backend/plugin/nccl_plugin.h"

#include <exception>
#include <memory>
#include <string>

namespace normscope {

namespace {

std::unique_ptr<cuda::NcclCommunicator> cards;
std::string failure;

CardCommunicator* open(HostCommunicator& host, int card) {
    try {
        cards = std::make_unique<cuda::NcclCommunicator>(host, card);
        return cards.get();
    } catch (const std::exception& error) {
        failure = error.what();
        return nullptr;
    }
}

const char* last_error() {
    return failure.c_str();
}

constexpr NcclPlugin kPlugin{kNcclPluginAbi, open, last_error};

}  // namespace

}  // namespace normscope

extern "C" __attribute__((visibility("default"))) const normscope::NcclPlugin* normscope_nccl_plugin(
    int abi) {
    return abi == normscope::kNcclPluginAbi ? &normscope::kPlugin : nullptr;
}
