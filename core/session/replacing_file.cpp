// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/replacing_file.h"

#include "core/base/error.h"
#include "core/session/process/guard.h"
#include "core/session/process/process_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
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

/// The process of a temporary, as its name has it.
struct Owner {
    std::uint32_t host = 0, boot = 0;  ///< hashes: a name has little space
    std::int64_t pid = 0, start = 0;   ///< as in ProcessIdentity
};

std::uint32_t hash_of(const std::string& text) {  // FNV-1a
    std::uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
}

Owner this_owner() {
    const ProcessIdentity self = this_process();
    // Process numbers are those of a namespace: two containers may have the same host name.
    std::error_code error;
    const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string();
    return {hash_of(self.host + space), hash_of(self.boot_id), self.pid, self.start};
}

std::string owner_text(const Owner& owner) {
    char text[80];
    std::snprintf(text, sizeof text, "%08x-%08x-%lld-%lld", owner.host, owner.boot,
                  static_cast<long long>(owner.pid), static_cast<long long>(owner.start));
    return text;
}

/// Nullopt for a name that owner_text() has not made.
std::optional<Owner> owner_of(const std::string& text) {
    Owner owner;
    long long pid = 0, start = 0, number = 0;
    if (text.size() >= 80 || std::sscanf(text.c_str(), "%8x-%8x-%18lld-%18lld-%18lld", &owner.host,
                                         &owner.boot, &pid, &start, &number) != 5)
        return std::nullopt;
    owner.pid = pid;
    owner.start = start;
    if (owner_text(owner) + "-" + std::to_string(number) != text) return std::nullopt;
    return owner;
}

/// In one process, two files may be written for one target.
std::int64_t next_number() {
    static std::atomic<std::int64_t> number = 0;
    return ++number;
}

/// Whether this temporary is not written any more. Of an earlier boot, only what was not written to since:
/// another host may have the same name.
bool is_dead(const Owner& owner, const std::string& path) {
    const Owner self = this_owner();
    if (owner.host != self.host) return false;
    if (owner.boot == self.boot) {
        ProcessIdentity process = this_process();
        process.pid = owner.pid;
        process.start = owner.start;
        return !is_alive(process, 0);
    }
    struct stat status {};
    struct timespec up {};
    if (::stat(path.c_str(), &status) != 0 || ::clock_gettime(CLOCK_BOOTTIME, &up) != 0) return false;
    return status.st_mtim.tv_sec < unix_time_ms() / 1000 - up.tv_sec;
}

/// Folders of thousands of files, such as a sweep's: what dead processes left there is searched in at most a
/// twentieth of the time. Any thread.
class LargeFolders {
  public:
    bool is_due(const std::string& folder) {
        const std::lock_guard lock(mutex_);
        const auto known = next_.find(folder);
        return known == next_.end() || std::chrono::steady_clock::now() >= known->second;
    }
    void scanned(const std::string& folder, std::size_t entries,
                 std::chrono::steady_clock::time_point begun) {
        constexpr std::size_t many = 1000;
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        if (entries < many)
            next_.erase(folder);
        else
            next_[folder] = now + 20 * (now - begun);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::chrono::steady_clock::time_point> next_;
};
LargeFolders& large_folders() {
    static LargeFolders only;
    return only;
}

}  // namespace

ReplacingFile::ReplacingFile(const std::string& target, std::optional<FileIdentity> as_read)
    : target_(followed(target).string()),
      temporary_(target_ + ending + owner_text(this_owner()) + "-" + std::to_string(next_number())),
      as_read_(as_read) {
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
    mark_verified(target_);
    sync_path(folder_of(target_).string(), O_RDONLY | O_DIRECTORY);
    return written;
}

void remove_leftovers(const std::string& path) {
    const fs::path target = followed(path);
    const std::string start = target.filename().string() + ending;
    LargeFolders& large = large_folders();
    const std::string folder = folder_of(target).string();
    if (!large.is_due(folder)) return;
    const auto begun = std::chrono::steady_clock::now();
    std::size_t entries = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        ++entries;
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(start)) continue;
        const auto owner = owner_of(name.substr(start.size()));
        if (owner && is_dead(*owner, entry.path().string())) fs::remove(entry.path(), error);
    }
    large.scanned(folder, entries, begun);
}

std::string without_temporary_ending(const std::string& path) {
    const auto at = path.rfind(ending);
    return at != std::string::npos && path.find('/', at) == std::string::npos ? path.substr(0, at) : path;
}

}  // namespace normscope
