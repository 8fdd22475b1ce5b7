// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace normscope {

/// The functions of a library that is opened at run time, where the machine has it, so that a plug-in loads
/// without it. The library stays open.
class LibraryFunctions {
  public:
    /// The first of `files` that can be opened; `wanted` states in words which ones.
    LibraryFunctions(const char* library, const char* wanted, std::initializer_list<const char*> files)
        : name_(library) {
        for (const char* file : files)
            if (!library_) library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!library_) missing_ = "no " + name_ + " (" + wanted + " on the dynamic linker's path)";
    }

    /// Null where the library does not have it.
    template <typename Function>
    void find(Function*& function, const char* symbol) {
        if (library_) function = reinterpret_cast<Function*>(dlsym(library_, symbol));
        if (!function && missing_.empty()) missing_ = name_ + " has no function " + symbol;
    }

    /// Empty, or one line on the library or its first function that is missing.
    const std::string& missing() const { return missing_; }

  private:
    std::string name_, missing_;
    void* library_ = nullptr;
};

}  // namespace normscope
