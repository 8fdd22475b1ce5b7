// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/recording/recording_growth.h"

#include "core/base/error.h"
#include "core/session/run_group.h"

namespace normscope {

namespace {

bool same_file(const FileIdentity& a, const FileIdentity& b) {
    return a.device == b.device && a.inode == b.inode;
}

}  // namespace

RecordingMark mark_of(const RunData& run, const FileIdentity& file) {
    RecordingMark mark{file, run.steps.rows(), run.events.size(), {}};
    for (const auto& [probe, samples] : run.probes) mark.samples[probe] = samples.size();
    return mark;
}

RecordingGrowth read_growth(const std::string& path, const RecordingMark& known) {
    const FileIdentity file = identity_of(path);
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    const hdf5::Handle runs = hdf5::open_group(opened.file, "runs");
    const auto ids = hdf5::children(runs);
    if (ids.size() != 1) throw InputError(path + ": holds " + std::to_string(ids.size()) + " runs, not one");
    RecordingGrowth growth;
    // Before the rows: a writer that ends while they are read has written more than was found.
    const auto writer = layout::live_writer(hdf5::open_group(runs, ids[0]));
    if (writer) growth.writer = layout::writer_text(*writer);
    growth.whole = !same_file(file, known.file);
    if (!growth.whole) {
        auto grown = layout::read_run_beyond(runs, ids[0], known);
        growth.whole = !grown;
        if (grown) growth.run = std::move(*grown);
    }
    if (growth.whole) growth.run = layout::read_run(runs, ids[0], true).data;
    growth.mark = mark_of(growth.run, file);
    if (!growth.whole) {
        growth.mark.rows += known.rows;
        growth.mark.events += known.events;
        for (const auto& [probe, count] : known.samples) growth.mark.samples[probe] += count;
    }
    return growth;
}

}  // namespace normscope
