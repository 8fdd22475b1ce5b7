// SPDX-License-Identifier: GPL-3.0-or-later
// Loaded before the C library: flock() fails as on a file system without locks, with the error
// NORMSCOPE_NO_LOCKS.
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>

extern "C" int flock(int, int) noexcept {
    errno = std::atoi(std::getenv("NORMSCOPE_NO_LOCKS"));
    return -1;
}
