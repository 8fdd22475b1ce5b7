// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// What became of settle_recording().
enum class Settled {
    NotNeeded,     ///< the file is closed, or no recording
    StillWritten,  ///< its writer is alive
    Rewritten,     ///< every HDF5 program opens it now
    Damaged        ///< a part cannot be read; nothing was changed
};

/// Closes a recording whose writer was killed. Such a file is still marked as being written: HDF5 opens it
/// for SWMR readers alone, and h5clear, which only removes the mark, leaves sizes that are wrong. It is read
/// as far as it is sound, and a file with the same runs, the state of an unfinished one interrupted, replaces
/// it atomically. A file that changes in between (its run is resumed) is not replaced. For the thread that
/// owns HDF5. InputError where it cannot be read, NotReplaceable, SystemError where it cannot be written.
Settled settle_recording(const std::string& path);

}  // namespace normscope
