// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/session.h"

#include "core/base/error.h"
#include "core/session/checkpoint_group.h"
#include "core/session/lazy_session.h"
#include "core/session/outline.h"
#include "core/session/process/guard.h"
#include "core/session/replacing_file.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace normscope {
namespace {

using hdf5::Handle;

void embed(hid_t runs, const CheckpointSource& source) {
    if (!hdf5::is_group(runs, source.run_id))
        throw InputError("checkpoint: there is no run \"" + source.run_id + "\" in this session");
    const Handle run = hdf5::open_group(runs, source.run_id);
    const Handle group = hdf5::exists(run, "checkpoints") ? hdf5::open_group(run, "checkpoints")
                                                          : hdf5::make_group(run, "checkpoints");
    const auto put = [&](const Checkpoint& checkpoint) {
        const std::string name = std::to_string(checkpoint.step);
        if (!hdf5::exists(group, name)) layout::write_checkpoint_group(group, name, checkpoint);
    };
    if (const auto* memory = std::get_if<std::shared_ptr<const Checkpoint>>(&source.from)) {
        put(**memory);
    } else if (const auto* path = std::get_if<std::string>(&source.from)) {
        put(read_checkpoint(*path));
    } else {
        const auto& other = std::get<EmbeddedCheckpoint>(source.from);
        put(load_checkpoint(other.session_path, other.run_id, other.step));
    }
}

std::vector<EmbeddedCheckpoint> list_checkpoints(const std::string& path, hid_t run, const std::string& id) {
    std::vector<EmbeddedCheckpoint> found;
    if (!hdf5::is_group(run, "checkpoints")) return found;
    const Handle group = hdf5::open_group(run, "checkpoints");
    for (const auto& name : hdf5::children(group)) {
        std::int64_t step = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
        if (error != std::errc() || end != name.data() + name.size())
            hdf5::fail_reading(group, name, "is not named by a step");
        found.push_back({path, id, step});
    }
    return found;
}

}  // namespace

FileIdentity save_session(const std::string& path, const std::vector<const RunData*>& runs,
                          const std::string& view_json, const std::vector<CheckpointSource>& checkpoints,
                          const std::optional<FileIdentity>& as_read) {
    std::set<std::string> ids;
    for (const auto* run : runs)
        if (!ids.insert(run->id).second)
            throw InputError("run id", "\"" + run->id + "\" appears twice", "distinct ids");
    ReplacingFile place(path, as_read);
    Handle file = hdf5::create_file(place.temporary());
    layout::write_root(file);
    {
        const Handle group = hdf5::make_group(file, "runs");
        for (const auto* run : runs)
            run->unread ? layout::write_run(group, whole(*run)) : layout::write_run(group, *run);
        for (const auto& checkpoint : checkpoints) embed(group, checkpoint);
        if (!view_json.empty()) hdf5::write_text(hdf5::make_group(file, "view"), "json", view_json);
    }
    hdf5::close_file(std::move(file), path);
    return place.commit();
}

FileIdentity save_session(const std::string& path, const std::vector<RunData>& runs,
                          const std::string& view_json, const std::vector<CheckpointSource>& checkpoints,
                          const std::optional<FileIdentity>& as_read) {
    std::vector<const RunData*> pointers;
    for (const auto& run : runs) pointers.push_back(&run);
    return save_session(path, pointers, view_json, checkpoints, as_read);
}

namespace {

/// `read` reads a run of the group of runs; `step` is called before each of those that it `reads`.
template <class Read>
Session session_of(
    const hdf5::OpenedFile& opened, const std::string& path, Read read,
    const std::function<void()>& step = [] {},
    const std::function<bool(std::size_t)>& reads = [](std::size_t) { return true; }) {
    Session session;
    session.app_version = hdf5::read_text_attribute(opened.file, "app_version");
    session.created = hdf5::read_text_attribute(opened.file, "created");
    const Handle runs = hdf5::open_group(opened.file, "runs");
    std::size_t place = 0;
    for (const auto& id : hdf5::children(runs)) {
        if (!reads(place++)) continue;
        step();
        layout::ReadRun run = read(runs, id);
        session.runs.push_back(std::move(run.data));
        std::move(run.warnings.begin(), run.warnings.end(), std::back_inserter(session.warnings));
        const auto checkpoints = list_checkpoints(path, hdf5::open_group(runs, id), id);
        session.checkpoints.insert(session.checkpoints.end(), checkpoints.begin(), checkpoints.end());
    }
    if (hdf5::is_group(opened.file, "view"))
        session.view_json = hdf5::read_text(hdf5::open_group(opened.file, "view"), "json");
    return session;
}

}  // namespace

Session open_session(const std::string& path) {
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    return session_of(opened, path, [&](hid_t runs, const std::string& id) {
        return layout::read_run(runs, id, opened.recording);
    });
}

Session open_outline(const std::string& path, const std::vector<std::string>& probes,
                     std::size_t most_bytes) {
    std::error_code unreadable;
    if (std::filesystem::file_size(path, unreadable) <= most_bytes || unreadable) return open_session(path);
    WalkAhead ahead(path, outline_part(probes), outline_walkers);
    auto session = outline_in_steps(path, probes, [&] { ahead.next(); });
    ahead.finish();
    return session ? std::move(*session) : open_session(path);
}

std::optional<Session> outline_in_steps(const std::string& path, const std::vector<std::string>& probes,
                                        const std::function<void()>& step,
                                        const std::function<bool(std::size_t)>& reads) {
    auto opened = hdf5::open_for_reading(path, step);
    layout::check_root(opened.file, path);
    if (opened.recording) return std::nullopt;
    const auto file = std::make_shared<const LazySession>(hdf5::Handle(H5Freopen(opened.file)), path);
    return session_of(
        opened, path,
        [&](hid_t runs, const std::string& id) {
            if (!layout::has_outline(runs, id)) return layout::read_run(runs, id, false);
            return layout::ReadRun{layout::read_outline(runs, id, probes, path, file), {}};
        },
        step, reads);
}

}  // namespace normscope
