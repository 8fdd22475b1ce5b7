// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/replacing_file.h"

#include "core/base/error.h"
#include "core/session/process/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace normscope {
namespace {

namespace fs = std::filesystem;
constexpr const char* ending = ".saving-";

[[noreturn]] void fail(const std::string& path, const std::string& doing) {
    throw SystemError(path + ": cannot " + doing + ": " + std::strerror(errno));
}

/// The target of a chain of symbolic links, even where it does not exist yet.
fs::path followed(fs::path path) {
    std::error_code error;
    for (int hop = 0; hop < 40 && fs::is_symlink(path, error); ++hop) {
        const fs::path next = fs::read_symlink(path, error);
        if (error) break;
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    return path;
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void sync_path(const std::string& path, int flags) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
    if (fd < 0) fail(path, "open");
    const int result = ::fsync(fd);
    const int error = errno;
    ::close(fd);
    errno = error;
    if (result != 0 && error != EINVAL) fail(path, "write to disk");  // EINVAL: a file system without fsync
}

}  // namespace

ReplacingFile::ReplacingFile(const std::string& target, std::optional<FileIdentity> as_read)
    : target_(followed(target).string()),
      temporary_(target_ + ending + std::to_string(::getpid())),
      as_read_(std::move(as_read)) {
    remove_leftovers(target_);
    struct stat old {};
    const bool replaces = ::stat(target_.c_str(), &old) == 0;
    if (replaces && S_ISDIR(old.st_mode)) throw SystemError(target + ": cannot write: is a directory");
    if (replaces && ::access(target_.c_str(), W_OK) != 0) fail(target_, "write");
    require_replaceable(target_, as_read_);
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) fail(target_, "write");
    // The owner may not be settable by this user; the permissions are kept.
    const bool kept = !replaces || ::fchmod(fd, old.st_mode & 07777) == 0;
    const int error = errno;
    ::close(fd);
    if (!kept) {
        ::unlink(temporary_.c_str());
        errno = error;
        fail(target_, "keep the permissions");
    }
}

ReplacingFile::~ReplacingFile() {
    if (committed_) return;
    // Truncated first: on a full disk the library may keep it open, and the space must be freed.
    [[maybe_unused]] const int emptied = ::truncate(temporary_.c_str(), 0);
    ::unlink(temporary_.c_str());
}

FileIdentity ReplacingFile::commit() {
    sync_path(temporary_, O_RDONLY);
    const FileIdentity written = identity_of(temporary_);
    require_replaceable(target_, as_read_);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "replace");
    committed_ = true;
    trust_as_it_is(target_);
    sync_path(folder_of(target_).string(), O_RDONLY | O_DIRECTORY);
    return written;
}

void remove_leftovers(const std::string& path) {
    const fs::path target = followed(path);
    const std::string start = target.filename().string() + ending;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_of(target), error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(start)) continue;
        const std::string digits = name.substr(start.size());
        if (digits.empty() || digits.size() > 9 || !std::all_of(digits.begin(), digits.end(), ::isdigit))
            continue;
        const pid_t pid = std::stoi(digits);
        if (pid != ::getpid() && ::kill(pid, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), error);
    }
}

std::string without_temporary_ending(const std::string& path) {
    const auto at = path.rfind(ending);
    return at != std::string::npos && path.find('/', at) == std::string::npos ? path.substr(0, at) : path;
}

}  // namespace normscope
