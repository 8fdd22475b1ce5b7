// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/files.h"

#include "app/cli/command.h"
#include "core/base/error.h"
#include "core/session/recording/settle.h"
#include "core/session/replacing_file.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace normscope::app {

namespace fs = std::filesystem;

bool is_hdf5(const std::string& path) {
    constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    std::array<char, 8> begin{};
    std::ifstream in(path, std::ios::binary);
    return in.read(begin.data(), begin.size()) && begin == kSignature;
}

void settle(const std::string& path) {
    try {
        if (settle_recording(path) == Settled::Rewritten)
            print_error(path + ": its writer was killed; closed now, so that every HDF5 program opens it");
    } catch (const NotReplaceable&) {
        // Another process has resumed the run in between, and writes it.
    } catch (const SystemError& error) {
        print_error(std::string(error.what()) + ": it stays marked as being written");
    } catch (const InputError&) {
        // The reading that follows reports it.
    }
}

FileIdentity require_writable(const std::string& path, const std::vector<std::string>& inputs) {
    std::error_code error;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw SystemError(path + ": cannot be written: " + folder.string() + ": " + std::strerror(errno));
    for (const std::string& input : inputs)
        if (fs::equivalent(path, input, error))
            throw InputError(path, "is also an input", "an output of its own");
    const FileIdentity now = identity_of(path);
    if (!now.exists) return now;
    if (!fs::is_regular_file(path, error))
        throw InputError(path, "is no regular file", "a new file or an HDF5 file");
    if (!fs::is_empty(path, error) && !is_hdf5(path))
        throw InputError(path, "holds something else and is not overwritten", "a new file or an HDF5 file");
    require_replaceable(path, std::nullopt);
    return now;
}

void write_text_file(const std::string& path, const std::string& text) {
    if (is_hdf5(path))
        throw InputError(path, "is an HDF5 file and is not replaced by a text", "another file");
    ReplacingFile place(path);
    std::ofstream out(place.temporary(), std::ios::binary);
    out << text;
    out.close();
    if (!out) throw SystemError(path + ": cannot be written: " + std::strerror(errno));
    place.commit();
}

}  // namespace normscope::app
