// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/recording/settle.h"

#include "core/session/hdf5.h"
#include "core/session/recording/recovery.h"
#include "core/session/run_group.h"
#include "core/session/session.h"

namespace normscope {

namespace {

bool any_writer_alive(const std::string& path) {
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    const hdf5::Handle runs = hdf5::open_group(opened.file, "runs");
    for (const auto& id : hdf5::children(runs))
        if (layout::live_writer(hdf5::open_group(runs, id))) return true;
    return false;
}

}  // namespace

Settled settle_recording(const std::string& path) {
    if (!hdf5::marked_by_writer(path)) return Settled::NotNeeded;
    const FileIdentity as_read = identity_of(path);
    if (any_writer_alive(path)) return Settled::StillWritten;
    std::vector<std::string> losses;
    const RunData run = recover(path, &losses);
    if (!losses.empty()) return Settled::Damaged;
    save_session(path, {&run}, "", {}, as_read);
    return Settled::Rewritten;
}

}  // namespace normscope
