// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// A plug-in of the program: a shared library that is opened at run time.
struct PluginFile {
    const char* name;      ///< libnormscope_NAME.so
    const char* symbol;    ///< its entry, a function of the ABI's number
    const char* variable;  ///< of the environment: the file, and no other; none where it is empty
    const char* made_by;   ///< "a build with nvcc makes"
    bool global = false;   ///< its libraries' symbols are visible to those that they open themselves
};

/// Where it is searched for: the file that the variable names, or else in the executable's folder, in ../lib
/// (an installation) and in ../../lib (a build folder).
std::vector<std::string> plugin_paths(const PluginFile& file);

/// The entry of the first of these files that exists, or one line on what is missing.
struct OpenedPlugin {
    void* library = nullptr;
    void* entry = nullptr;
    std::string path, missing;
};
OpenedPlugin open_plugin(const PluginFile& file, const std::vector<std::string>& paths);

/// Closes a plug-in whose ABI is another one: a line on it.
std::string close_other_version(const OpenedPlugin& plugin, int abi);

}  // namespace normscope
