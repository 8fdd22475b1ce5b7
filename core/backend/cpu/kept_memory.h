// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// Tells the C library to keep what is freed, up to 256 MiB, for the next request of up to 32 MiB, where by default
/// larger pieces go back to the system each time. Probes need several tapes of some MiB for a moment; fetching their
/// pages anew takes part of every sample's time. Call once at the start of a program. Does nothing outside glibc.
void keep_freed_memory();

}  // namespace normscope
