// SPDX-License-Identifier: GPL-3.0-or-later
// The reading half of core/session/run_group.h.
#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/session/outline.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <cstring>

namespace normscope::layout {
namespace {

using hdf5::Handle;

/// `rows` rows of a one-axis data set from row `first` on.
template <typename T>
std::vector<T> column(hid_t group, const std::string& name, std::size_t rows, std::size_t first = 0) {
    const Handle dataset = hdf5::open_dataset(group, name);
    if (hdf5::check_array(dataset, hdf5::scalar_of<T>(), 1, first + rows, first)[0] < first + rows)
        hdf5::fail_reading(group, name, "is shorter than its group");
    std::vector<T> values(rows);
    hdf5::read_rows(dataset, hdf5::native_type(hdf5::scalar_of<T>()), rows, values.data(), first);
    return values;
}

std::vector<std::string> columns_of(hid_t steps) {
    std::vector<std::string> names = hdf5::children(steps);
    std::erase(names, "step");
    return names;
}

/// The samples of a probe in `rows` rows of its data sets from row `first` on.
std::vector<ProbeResult> read_samples(hid_t group, const std::string& id, std::size_t rows,
                                      std::size_t first = 0) {
    const auto steps = column<std::int64_t>(group, "step", rows, first);
    const auto costs = column<double>(group, "cost_ms", rows, first);
    ProbeResult pattern;
    pattern.probe = id;
    for (const auto& name : hdf5::attribute_names(group))
        pattern.labels[name] = hdf5::read_texts_attribute(group, name);
    std::vector<ProbeResult> samples(rows, pattern);
    for (std::size_t s = 0; s < rows; ++s) {
        samples[s].step = steps[s];
        samples[s].cost_ms = costs[s];
    }
    for (const auto& name : hdf5::children(group)) {
        if (name == "step" || name == "cost_ms") continue;
        const Handle dataset = hdf5::open_dataset(group, name);
        const hdf5::Shape shape = hdf5::check_array(dataset, hdf5::Scalar::Float64, -1, first + rows, first);
        if (shape.empty() || shape[0] < first + rows)
            hdf5::fail_reading(group, name, "is shorter than its group");
        NamedArray array{name, {shape.begin() + 1, shape.end()}, {}, {}, {}};
        if (hdf5::has_attribute(dataset, "axes")) array.axes = hdf5::read_texts_attribute(dataset, "axes");
        if (!array.axes.empty()) array.axes.erase(array.axes.begin());  // "sample"
        if (hdf5::has_attribute(dataset, "unit")) array.unit = hdf5::read_text_attribute(dataset, "unit");
        const std::size_t count = hdf5::element_count(array.shape);
        std::vector<double> values(rows * count);
        hdf5::read_rows(dataset, H5T_NATIVE_DOUBLE, rows, values.data(), first);
        for (std::size_t s = 0; s < rows; ++s) {
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(s * count);
            array.data.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
            samples[s].arrays.push_back(array);
        }
    }
    return samples;
}

std::vector<ProbeResult> read_probe(hid_t probes, const std::string& id, bool recording) {
    const Handle group = hdf5::open_group(probes, id);
    return read_samples(group, id, common_rows(group, recording));
}

std::vector<RunEvent> read_events(hid_t run, bool recording) {
    const Handle dataset = hdf5::open_dataset(run, "events"), type = event_type(),
                 stored(H5Dget_type(dataset));
    const hdf5::Shape shape = hdf5::dataset_shape(dataset);
    if (H5Tget_class(stored) != H5T_COMPOUND || shape.size() != 1)
        hdf5::fail_reading(run, "events", "is not a list of {step, kind, text}");
    const std::size_t count = recording ? hdf5::sound_rows(dataset) : shape[0];
    hdf5::check_storage(dataset, {count}, H5Tget_size(stored));
    std::vector<EventRow> rows(count);
    hdf5::read_rows(dataset, type, rows.size(), rows.data());
    std::vector<RunEvent> events;
    for (const auto& row : rows)
        events.push_back({row.step, std::string(row.kind, strnlen(row.kind, sizeof row.kind)),
                          std::string(row.text, strnlen(row.text, sizeof row.text))});
    return events;
}

}  // namespace

std::optional<ProcessIdentity> live_writer(hid_t run) {
    if (!hdf5::is_group(run, "writer")) return std::nullopt;  // a saved session has no writer
    const Handle group = hdf5::open_group(run, "writer");
    const ProcessIdentity writer{
        hdf5::read_text_attribute(group, "host"), hdf5::read_text_attribute(group, "boot_id"),
        hdf5::read_int_attribute(group, "pid"), hdf5::read_int_attribute(group, "start")};
    if (!is_alive(writer, column<std::int64_t>(run, "heartbeat", 1)[0])) return std::nullopt;
    return writer;
}

std::string writer_text(const ProcessIdentity& writer) {
    const std::string process = "process " + std::to_string(writer.pid);
    return writer.host == this_process().host ? process : process + " on " + writer.host;
}

std::size_t common_rows(hid_t group, bool recording) {
    std::size_t shortest = std::numeric_limits<std::size_t>::max();
    for (const auto& name : hdf5::children(group)) {
        const Handle dataset = hdf5::open_dataset(group, name);
        const hdf5::Shape shape = hdf5::dataset_shape(dataset);
        if (shape.empty()) hdf5::fail_reading(group, name, "has no axis");
        const std::size_t rows = recording ? hdf5::sound_rows(dataset) : shape[0];
        if (!recording && shortest != std::numeric_limits<std::size_t>::max() && rows != shortest)
            hdf5::fail_reading(
                group, name, "has " + std::to_string(rows) + " rows, its group " + std::to_string(shortest));
        shortest = std::min(shortest, rows);
    }
    if (shortest == std::numeric_limits<std::size_t>::max()) hdf5::fail_reading(group, "", "is empty");
    return shortest;
}

namespace {

/// `rows` rows from row `first` on.
StepTable read_steps(hid_t group, std::size_t rows, std::size_t first = 0) {
    StepTable table;
    table.step = column<std::int64_t>(group, "step", rows, first);
    table.names = columns_of(group);
    for (const auto& name : table.names) table.columns.push_back(column<double>(group, name, rows, first));
    return table;
}

}  // namespace

std::optional<StepOverview> read_overview(hid_t run, std::size_t most_blocks) {
    if (!hdf5::is_group(run, "steps_overview")) return std::nullopt;
    const Handle levels = hdf5::open_group(run, "steps_overview");
    StepOverview level;
    Handle group;
    for (const auto& name : hdf5::children(levels)) {
        level.factor *= StepOverview::base_factor;
        if (name != std::to_string(level.factor)) hdf5::fail_reading(levels, name, "is not the next level");
        group = hdf5::open_group(levels, name);
        if (most_blocks > 0 &&
            hdf5::element_count(hdf5::dataset_shape(hdf5::open_dataset(group, "step"))) <= most_blocks)
            break;
    }
    if (!group.valid()) return std::nullopt;
    level.step = hdf5::read_array<std::int64_t>(group, "step", 1).data;
    level.names = columns_of(group);
    for (const auto& column_name : level.names) {
        const auto pairs = hdf5::read_array<double>(group, column_name, 2);
        if (pairs.shape != hdf5::Shape{level.blocks(), 2})
            hdf5::fail_reading(group, column_name, "has shape " + hdf5::shape_text(pairs.shape));
        auto& low = level.low.emplace_back();
        auto& high = level.high.emplace_back();
        for (std::size_t i = 0; i < level.blocks(); ++i) {
            low.push_back(pairs.data[2 * i]);
            high.push_back(pairs.data[2 * i + 1]);
        }
    }
    return level;
}

namespace {

/// As its writer has left it so far.
Outcome stored_outcome(hid_t run) {
    Outcome outcome;
    const auto words = hdf5::read_texts(run, "state");
    if (words.size() != 1) hdf5::fail_reading(run, "state", "is not one word");
    try {
        outcome.state = run_state_from_word(words[0]);
    } catch (const InputError& error) {
        hdf5::fail_reading(run, "", error.what());
    }
    const Handle group = hdf5::open_group(run, "outcome");
    outcome.step = column<std::int64_t>(group, "step", 1)[0];
    outcome.layer = column<std::int32_t>(group, "layer", 1)[0];
    const auto texts = hdf5::read_texts(group, "text");
    if (texts.size() != 1) hdf5::fail_reading(group, "text", "is not one text");
    outcome.text = texts[0];
    return outcome;
}

bool unfinished(const Outcome& outcome) {
    return outcome.state == RunState::Running || outcome.state == RunState::Paused;
}

}  // namespace

Outcome read_outcome(hid_t run) {
    Outcome outcome = stored_outcome(run);
    if (!unfinished(outcome) || live_writer(run)) return outcome;
    // The writer may have finished the run since its state was read.
    outcome = stored_outcome(run);
    if (unfinished(outcome)) outcome.state = RunState::Interrupted;
    return outcome;
}

namespace {

/// Without steps, samples and events.
RunData read_header(hid_t group, const std::string& id) {
    RunData run;
    run.id = id;
    run.name = hdf5::read_text_attribute(group, "name");
    run.recipe = RunRecipe::read(hdf5::read_text_attribute(group, "recipe"));
    run.backend = hdf5::read_text_attribute(group, "backend");
    run.device = hdf5::read_text_attribute(group, "device");
    run.seed = hdf5::read_uint_attribute(group, "seed");
    run.ln_vocab = hdf5::read_double_attribute(group, "ln_vocab");
    run.unigram_entropy = hdf5::read_double_attribute(group, "unigram_entropy");
    // Files of earlier versions lack these two.
    for (const auto& [name, level] : {std::pair("bigram_entropy", &LossLevels::bigram_entropy),
                                      std::pair("trigram_entropy", &LossLevels::trigram_entropy)})
        run.*level = hdf5::has_attribute(group, name) ? hdf5::read_double_attribute(group, name) : kNaN;
    run.entropy_rate = hdf5::read_double_attribute(group, "entropy_rate");
    run.outcome = read_outcome(group);
    return run;
}

void name_last_step(RunData& run) {
    if (run.outcome.state == RunState::Interrupted && run.outcome.step < 0 && run.steps.rows() > 0)
        run.outcome.step = run.steps.step.back();
}

}  // namespace

ReadRun read_run(hid_t runs, const std::string& id, bool recording) {
    const Handle group = hdf5::open_group(runs, id);
    recording |= hdf5::is_group(group, "writer");
    ReadRun read;
    RunData& run = read.data;
    run = read_header(group, id);
    const Handle steps = hdf5::open_group(group, "steps");
    run.steps = read_steps(steps, common_rows(steps, recording));
    name_last_step(run);

    const Handle probes = hdf5::open_group(group, "probes");
    for (const auto& probe : hdf5::children(probes)) {
        try {
            auto samples = read_probe(probes, probe, recording);
            if (!samples.empty()) run.probes[probe] = std::move(samples);
        } catch (const InputError& error) {
            if (!recording) throw;  // a recording is read as far as it is sound
            read.warnings.push_back(error.what());
        }
    }
    run.events = read_events(group, recording);
    return read;
}

std::optional<RunData> read_run_beyond(hid_t runs, const std::string& id, const RecordingMark& known) {
    const Handle group = hdf5::open_group(runs, id), steps = hdf5::open_group(group, "steps"),
                 probes = hdf5::open_group(group, "probes");
    RunData run = read_header(group, id);
    const std::size_t rows = common_rows(steps, true);
    if (rows < known.rows) return std::nullopt;
    run.steps = read_steps(steps, rows - known.rows, known.rows);
    name_last_step(run);
    for (const auto& probe : hdf5::children(probes)) {
        const auto found = known.samples.find(probe);
        const std::size_t first = found == known.samples.end() ? 0 : found->second;
        const Handle samples = hdf5::open_group(probes, probe);
        const std::size_t count = common_rows(samples, true);
        if (count < first) return std::nullopt;
        if (count > first) run.probes[probe] = read_samples(samples, probe, count - first, first);
    }
    run.events = read_events(group, true);
    if (run.events.size() < known.events) return std::nullopt;
    run.events.erase(run.events.begin(), run.events.begin() + static_cast<std::ptrdiff_t>(known.events));
    return run;
}

namespace {

std::size_t steps_in(hid_t group) {
    return hdf5::element_count(hdf5::dataset_shape(hdf5::open_dataset(group, "step")));
}

}  // namespace

bool has_outline(hid_t runs, const std::string& id) {
    const Handle run = hdf5::open_group(runs, id);
    return !hdf5::is_group(run, "writer") && steps_in(hdf5::open_group(run, "steps")) > 0;
}

RunData read_outline(hid_t runs, const std::string& id, const std::vector<std::string>& shown,
                     const std::string& path, std::shared_ptr<const LazySession> file) {
    const Handle group = hdf5::open_group(runs, id);
    RunData run = read_header(group, id);
    const Handle steps = hdf5::open_group(group, "steps");
    const std::size_t rows = steps_in(steps);
    // Without a pyramid the whole table is drawn.
    auto overview = read_overview(group, outline_blocks);
    const std::size_t kept = overview ? std::min(rows, outline_rows) : rows;
    run.steps.step = column<std::int64_t>(steps, "step", kept, rows - kept);
    run.steps.names = columns_of(steps);
    for (const auto& name : run.steps.names)
        run.steps.columns.push_back(column<double>(steps, name, kept, rows - kept));
    name_last_step(run);
    const Handle probes = hdf5::open_group(group, "probes");
    for (const auto& probe : shown) {
        if (!hdf5::exists(probes, probe)) continue;
        const Handle samples = hdf5::open_group(probes, probe);
        const std::size_t count = steps_in(samples);
        if (count > 0) run.probes[probe] = read_samples(samples, probe, 1, count - 1);
    }
    run.events = read_events(group, false);
    run.unread =
        std::make_shared<const UnreadRun>(UnreadRun{std::move(file), path, id, rows, std::move(overview)});
    return run;
}

}  // namespace normscope::layout
