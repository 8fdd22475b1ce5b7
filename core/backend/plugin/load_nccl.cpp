// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/plugin/load_nccl.h"

#include "core/backend/plugin/nccl_plugin.h"
#include "core/backend/plugin/open_plugin.h"

namespace normscope {

namespace {

constexpr PluginFile kNcclFile{"nccl", kNcclPluginSymbol, "NORMSCOPE_NCCL_PLUGIN",
                               "a build with nvcc and NCCL makes"};

InputError no_cards(const std::string& why) {
    return InputError("--ranks: ranks with a card each: " + why);
}

const NcclPlugin& nccl_plugin() {
    static const OpenedPlugin opened = open_plugin(kNcclFile, plugin_paths(kNcclFile));
    if (!opened.entry) throw no_cards(opened.missing);
    static const NcclPlugin* const plugin = reinterpret_cast<NcclPluginEntry>(opened.entry)(kNcclPluginAbi);
    if (!plugin || plugin->abi != kNcclPluginAbi) throw no_cards(close_other_version(opened, kNcclPluginAbi));
    return *plugin;
}

}  // namespace

CardCommunicator& open_nccl(HostCommunicator& host, int card) {
    const NcclPlugin& plugin = nccl_plugin();
    CardCommunicator* const ranks = plugin.open(host, card);
    if (!ranks) throw no_cards(plugin.last_error());
    return *ranks;
}

}  // namespace normscope
