// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/plugin/open_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace normscope {

namespace {

std::string dynamic_linker_error() {
    const char* text = dlerror();
    return text ? text : "unknown error of the dynamic linker";
}

OpenedPlugin not_opened(std::string what) {
    OpenedPlugin none;
    none.missing = std::move(what);
    return none;
}

std::string file_name(const PluginFile& file) {
    return std::string("libnormscope_") + file.name + ".so";
}

}  // namespace

std::vector<std::string> plugin_paths(const PluginFile& file) {
    if (const char* named = std::getenv(file.variable)) return {named};
    std::error_code error;
    const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const auto folder = executable.parent_path();
    std::vector<std::string> paths;
    for (const char* relative : {".", "../lib", "../../lib"})
        paths.push_back((folder / relative / file_name(file)).lexically_normal().string());
    return paths;
}

OpenedPlugin open_plugin(const PluginFile& file, const std::vector<std::string>& paths) {
    if (paths.size() == 1 && paths[0].empty()) return not_opened(std::string(file.variable) + " is empty");
    OpenedPlugin opened;
    for (const std::string& candidate : paths)
        if (std::error_code error; opened.path.empty() && std::filesystem::exists(candidate, error))
            opened.path = candidate;
    if (opened.path.empty()) {
        if (paths.size() == 1) return not_opened(paths[0] + " does not exist");
        return not_opened("no plug-in " + file_name(file) + ", which " + file.made_by);
    }
    opened.library = dlopen(opened.path.c_str(), RTLD_NOW | (file.global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!opened.library) return not_opened(dynamic_linker_error());
    opened.entry = dlsym(opened.library, file.symbol);
    if (!opened.entry) {
        dlclose(opened.library);
        return not_opened(opened.path + " has no function " + file.symbol);
    }
    return opened;
}

std::string close_other_version(const OpenedPlugin& plugin, int abi) {
    dlclose(plugin.library);
    return plugin.path + " is of another version of Normscope (its interface is not number " +
           std::to_string(abi) + ")";
}

}  // namespace normscope
