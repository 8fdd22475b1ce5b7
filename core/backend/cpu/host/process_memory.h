// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace normscope {

/// Configures the C library to keep up to 256 MiB of freed memory for requests of up to 32 MiB; by default
/// larger blocks are returned to the system each time. Probes briefly allocate tapes of some MiB; page faults
/// would take part of every sample's time. Call once at the start of a program. Does nothing outside glibc.
void retain_freed_memory();

/// Bytes of the process in the machine's memory (resident set); 0 where /proc does not exist.
std::size_t resident_memory();

}  // namespace normscope
