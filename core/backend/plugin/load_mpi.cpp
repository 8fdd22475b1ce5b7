// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/plugin/load_mpi.h"

#include "core/backend/plugin/mpi_plugin.h"
#include "core/backend/plugin/open_plugin.h"

namespace normscope {

namespace {

// Open MPI opens components of its own, which look for its symbols.
constexpr PluginFile kMpiFile{"mpi", kMpiPluginSymbol, "NORMSCOPE_MPI_PLUGIN", "a build with MPI makes",
                              true};

InputError no_ranks(const std::string& why) {
    return InputError("--ranks mpi: " + why);
}

const MpiPlugin& mpi_plugin() {
    static const OpenedPlugin opened = open_plugin(kMpiFile, plugin_paths(kMpiFile));
    if (!opened.entry) throw no_ranks(opened.missing);
    static const MpiPlugin* const plugin = reinterpret_cast<MpiPluginEntry>(opened.entry)(kMpiPluginAbi);
    if (!plugin || plugin->abi != kMpiPluginAbi) throw no_ranks(close_other_version(opened, kMpiPluginAbi));
    return *plugin;
}

}  // namespace

HostCommunicator& open_mpi(bool (*stop_wanted)()) {
    const MpiPlugin& plugin = mpi_plugin();
    HostCommunicator* const ranks = plugin.open(stop_wanted);
    if (!ranks) throw SystemError(std::string("MPI: ") + plugin.last_error());
    return *ranks;
}

void close_mpi() {
    mpi_plugin().close();
}

}  // namespace normscope
