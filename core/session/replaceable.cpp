// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/replaceable.h"

#include "core/session/run_group.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

namespace normscope {
namespace {

/// The files that this process is recording, by device and inode.
struct Recorded {
    std::mutex mutex;
    std::set<std::pair<std::uint64_t, std::uint64_t>> files;
};

Recorded& recorded() {
    static Recorded only;
    return only;
}

bool is_recorded_here(const FileIdentity& file) {
    Recorded& here = recorded();
    const std::lock_guard lock(here.mutex);
    return here.files.contains({file.device, file.inode});
}

/// Whether a program has the file locked for writing, as HDF5 does. False on file systems without locks.
bool locked_for_writing(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    return locked;
}

/// The writer of a file that is marked as open for writing; empty where it is dead.
std::string live_writer(const std::string& path, const FileIdentity& file) {
    try {
        const auto opened = hdf5::open_for_reading(path);
        const hdf5::Handle runs = hdf5::open_group(opened.file, "runs");
        for (const std::string& id : hdf5::children(runs)) {
            const auto writer = layout::live_writer(hdf5::open_group(runs, id));
            if (writer && *writer != this_process()) return layout::writer_text(*writer);
        }
        return {};
    } catch (const InputError&) {
        // No recording of ours, or damaged: the mark may have been left by a killed program.
        constexpr std::int64_t silence_ms = 30'000;
        return unix_time_ms() - file.seconds * 1000 <= silence_ms ? "another program" : "";
    }
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return {};
        throw SystemError(path + ": " + std::strerror(errno));
    }
    return {true,
            static_cast<std::uint64_t>(status.st_dev),
            static_cast<std::uint64_t>(status.st_ino),
            static_cast<std::int64_t>(status.st_size),
            static_cast<std::int64_t>(status.st_mtim.tv_sec),
            static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
}

void require_replaceable(const std::string& path, const std::optional<FileIdentity>& as_read) {
    const FileIdentity now = identity_of(path);
    if (!now.exists) return;
    std::string writer;
    if (is_recorded_here(now))
        writer = "this program";
    else if (hdf5::marked_by_writer(path))
        writer = live_writer(path, now);
    if (writer.empty() && locked_for_writing(path)) writer = "another program";
    if (!writer.empty())
        throw NotReplaceable(NotReplaceable::Reason::BeingWritten, path,
                             "is being written by " + writer + " and is not replaced", "another file");
    if (as_read && now != *as_read)
        throw NotReplaceable(NotReplaceable::Reason::Changed, path,
                             as_read->exists ? "was changed since it was read and is not replaced"
                                             : "was written by another program and is not replaced",
                             "another file, or this one opened again");
}

void recording_begun(const FileIdentity& file) {
    Recorded& here = recorded();
    const std::lock_guard lock(here.mutex);
    here.files.emplace(file.device, file.inode);
}

void recording_ended(const FileIdentity& file) {
    Recorded& here = recorded();
    const std::lock_guard lock(here.mutex);
    here.files.erase({file.device, file.inode});
}

}  // namespace normscope
