// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/mpi/mpi_communicator.h"
#include "core/backend/plugin/mpi_plugin.h"

#include <exception>
#include <memory>
#include <string>

namespace normscope {

namespace {

std::unique_ptr<MpiCommunicator> world;
std::string failure;

HostCommunicator* open(bool (*stop_wanted)()) {
    try {
        int thread_support = 0;
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &thread_support) != MPI_SUCCESS)
            throw SystemError("it does not start");
        world = std::make_unique<MpiCommunicator>(stop_wanted);
        return world.get();
    } catch (const std::exception& error) {
        failure = error.what();
        return nullptr;
    }
}

void close() {
    if (world) MPI_Finalize();
    world.reset();
}

const char* last_error() {
    return failure.c_str();
}

constexpr MpiPlugin kPlugin{kMpiPluginAbi, open, close, last_error};

}  // namespace

}  // namespace normscope

extern "C" __attribute__((visibility("default"))) const normscope::MpiPlugin* normscope_mpi_plugin(int abi) {
    return abi == normscope::kMpiPluginAbi ? &normscope::kPlugin : nullptr;
}
