// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/recording/recovery.h"

#include "core/base/error.h"
#include "core/session/run_group.h"

namespace normscope {

RunData recover(const std::string& recording_path, std::vector<std::string>* warnings) {
    const auto opened = hdf5::open_for_reading(recording_path);
    layout::check_root(opened.file, recording_path);
    const hdf5::Handle runs = hdf5::open_group(opened.file, "runs");
    const auto ids = hdf5::children(runs);
    if (ids.size() != 1)
        throw InputError(recording_path + ": holds " + std::to_string(ids.size()) + " runs, not one");
    layout::ReadRun read = layout::read_run(runs, ids[0], opened.recording);
    if (warnings) *warnings = std::move(read.warnings);
    return std::move(read.data);
}

void cut_after(RunData& run, std::int64_t step) {
    std::size_t rows = 0;
    while (rows < run.steps.rows() && run.steps.step[rows] <= step) ++rows;
    run.steps.step.resize(rows);
    for (auto& column : run.steps.columns) column.resize(rows);
    for (auto& [id, samples] : run.probes)
        std::erase_if(samples, [&](const auto& sample) { return sample.step > step; });
    std::erase_if(run.events, [&](const auto& event) { return event.step > step; });
}

}  // namespace normscope
