// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/lazy_session.h"

#include "core/base/error.h"
#include "core/session/process/guard.h"

#include <sys/stat.h>

#include <utility>

namespace normscope {

namespace {

struct stat status_of(hid_t file) {
    int* descriptor = nullptr;
    struct stat status {};
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)) < 0 ||
        ::fstat(*descriptor, &status) != 0)
        hdf5::fail_reading(file, "", hdf5::last_error());
    return status;
}

}  // namespace

LazySession::LazySession(hdf5::Handle file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {
    const struct stat status = status_of(file_);
    bytes_ = status.st_size;
    seconds_ = status.st_mtim.tv_sec;
    nanoseconds_ = status.st_mtim.tv_nsec;
}

LazySession::~LazySession() {
    hdf5::close_later(std::move(file_));
}

void LazySession::require_readable() const {
    if (!failure_.empty()) throw InputError(failure_);
    const struct stat status = status_of(file_);
    if (status.st_size != bytes_ || status.st_mtim.tv_sec != seconds_ ||
        status.st_mtim.tv_nsec != nanoseconds_)
        throw InputError(path_ + ": was written to since it was opened; what was not read yet is lost");
    if (walked_) return;
    struct stat now {};
    if (guards_foreign_files()) {
        if (::stat(path_.c_str(), &now) != 0 || now.st_dev != status.st_dev || now.st_ino != status.st_ino)
            throw InputError(path_ +
                             ": was replaced before it was read to its end; what was not read yet is lost");
        require_verified(path_);
    }
    walked_ = true;
}

}  // namespace normscope
