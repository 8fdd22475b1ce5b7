// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/outline.h"

#include "core/base/error.h"
#include "core/session/hdf5.h"
#include "core/session/lazy_session.h"
#include "core/session/run_group.h"

#include <utility>

namespace normscope {

RunRemainder read_remainder(const UnreadRun& unread) {
    unread.file->require_readable();
    try {
        RunData read = layout::read_run(hdf5::open_group(unread.file->file(), "runs"), unread.id, false).data;
        return RunRemainder{std::move(read.steps), std::move(read.probes)};
    } catch (const InputError& error) {
        unread.file->record_failure(error.what());
        throw;
    }
}

void complete(RunData& outline, RunRemainder rest) {
    outline.steps = std::move(rest.steps);
    const auto shown = std::exchange(outline.probes, std::move(rest.probes));
    for (const auto& [probe, samples] : shown)
        for (const ProbeResult& sample : samples) insert_sample(outline, sample);
    outline.unread = nullptr;
}

void close_unused_files() {
    hdf5::close_released();
}

RunData whole(const RunData& run) {
    RunData all = run;
    if (run.unread) complete(all, read_remainder(*run.unread));
    return all;
}

}  // namespace normscope
