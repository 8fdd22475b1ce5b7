// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_group.h"

#include "core/base/error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <set>

namespace normscope {

RunHeader header_of(const RunData& run) {
    return {run, run.id, run.name, run.recipe, run.backend, run.device, run.seed};
}

ProbeSchema schema_of(const ProbeResult& result) {
    ProbeSchema schema{result.probe, {}, result.labels};
    for (const auto& array : result.arrays)
        schema.arrays.push_back({array.name, array.shape, array.axes, array.unit});
    return schema;
}

}  // namespace normscope

namespace normscope::layout {
namespace {

using hdf5::Handle;

void write_outcome(hid_t run, const Outcome& outcome) {
    const std::int32_t layer = outcome.layer;
    const Handle group = hdf5::make_group(run, "outcome");
    hdf5::write_array(group, "step", {1}, &outcome.step);
    hdf5::write_array(group, "layer", {1}, &layer);
    hdf5::write_texts(group, "text", text_bytes, {outcome.text});
    hdf5::write_texts(run, "state", state_bytes, {run_state_word(outcome.state)});
}

void write_steps(hid_t run, const StepTable& table) {
    const Handle group = hdf5::make_group(run, "steps");
    hdf5::write_array(group, "step", {table.rows()}, table.step.data());
    for (std::size_t c = 0; c < table.names.size(); ++c)
        hdf5::write_array(group, table.names[c], {table.rows()}, table.columns[c].data());
}

void write_overview(hid_t run, const StepTable& table) {
    const Handle levels = hdf5::make_group(run, "steps_overview");
    for (StepOverview level = overview_of(table); level.blocks() > 1; level = coarser(level)) {
        const Handle group = hdf5::make_group(levels, std::to_string(level.factor));
        hdf5::write_array(group, "step", {level.blocks()}, level.step.data());
        std::vector<double> pairs(level.blocks() * 2);
        for (std::size_t c = 0; c < level.names.size(); ++c) {
            for (std::size_t i = 0; i < level.blocks(); ++i) {
                pairs[2 * i] = level.low[c][i];
                pairs[2 * i + 1] = level.high[c][i];
            }
            hdf5::write_array(group, level.names[c], {level.blocks(), 2}, pairs.data());
        }
    }
}

void write_events(hid_t run, const std::vector<RunEvent>& events) {
    std::vector<EventRow> rows;
    for (const auto& event : events) rows.push_back(event_row(event));
    const Handle type = event_type();
    const hsize_t count = rows.size();
    const Handle space(H5Screate_simple(1, &count, nullptr));
    const Handle dataset(H5Dcreate2(run, "events", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (!dataset.valid() ||
        (count > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0))
        hdf5::fail_writing(run, "events");
}

void check_table(const StepTable& table) {
    std::set<std::string> seen{"step"};
    for (const auto& name : table.names)
        if (name.empty() || name.find('/') != std::string::npos || !seen.insert(name).second)
            throw InputError("step table", "the column name \"" + name + "\" cannot be used",
                             "distinct names without /");
    for (const auto& column : table.columns)
        if (column.size() != table.rows() || table.columns.size() != table.names.size())
            throw InputError("step table: its columns have different lengths");
}

}  // namespace

void write_root(hid_t file) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    hdf5::write_attribute(file, "format", std::string("normscope-session"));
    hdf5::write_attribute(file, "version", format_version);
    hdf5::write_attribute(file, "app_version", std::string(NORMSCOPE_VERSION));
    hdf5::write_attribute(file, "created", std::string(text));
}

void check_root(hid_t file, const std::string& path) {
    if (!hdf5::has_attribute(file, "format") ||
        hdf5::read_text_attribute(file, "format") != "normscope-session")
        throw InputError(path + ": is not a Normscope session");
    const std::int64_t version = hdf5::read_int_attribute(file, "version");
    const std::string known = std::to_string(format_version);
    if (version > format_version)
        throw InputError(path + ": version " + std::to_string(version) +
                         " is newer than this program supports (" + known + ")");
    if (version < 1)
        throw InputError(path, "version " + std::to_string(version) + " is unknown", "1 … " + known);
}

void check_id(const std::string& id) {
    if (id.empty() || id == "." || id == ".." || id.find('/') != std::string::npos)
        throw InputError("run id", "\"" + id + "\" cannot be used", "a name without /");
}

void write_header(hid_t run, const RunHeader& header) {
    hdf5::write_attribute(run, "name", header.name);
    hdf5::write_attribute(run, "recipe", header.recipe.text());
    hdf5::write_attribute(run, "backend", header.backend);
    hdf5::write_attribute(run, "device", header.device);
    hdf5::write_attribute(run, "seed", header.seed);
    hdf5::write_attribute(run, "ln_vocab", header.ln_vocab);
    hdf5::write_attribute(run, "unigram_entropy", header.unigram_entropy);
    hdf5::write_attribute(run, "bigram_entropy", header.bigram_entropy);
    hdf5::write_attribute(run, "trigram_entropy", header.trigram_entropy);
    hdf5::write_attribute(run, "entropy_rate", header.entropy_rate);
}

void write_labels(hid_t probe, const ProbeSchema& schema) {
    for (const auto& [name, texts] : schema.labels) hdf5::write_attribute(probe, name, texts);
}

void write_array_attributes(hid_t probe, const ArraySchema& array) {
    const Handle dataset = hdf5::open_dataset(probe, array.name);
    std::vector<std::string> axes{"sample"};
    axes.insert(axes.end(), array.axes.begin(), array.axes.end());
    hdf5::write_attribute(dataset, "axes", axes);
    hdf5::write_attribute(dataset, "unit", array.unit);
}

void write_writer(hid_t run, const ProcessIdentity& writer) {
    const Handle group = hdf5::make_group(run, "writer");
    hdf5::write_attribute(group, "host", writer.host);
    hdf5::write_attribute(group, "boot_id", writer.boot_id);
    hdf5::write_attribute(group, "pid", writer.pid);
    hdf5::write_attribute(group, "start", writer.start);
}

void check_schema(const ProbeSchema& schema) {
    check_id(schema.probe);
    std::set<std::string> seen{"step", "cost_ms"};
    for (const auto& array : schema.arrays)
        if (array.name.empty() || array.name.find('/') != std::string::npos ||
            !seen.insert(array.name).second)
            throw InputError("probe " + schema.probe, "the array name \"" + array.name + "\" cannot be used",
                             "distinct names without /, not step or cost_ms");
}

Handle event_type() {
    Handle type(H5Tcreate(H5T_COMPOUND, sizeof(EventRow)));
    H5Tinsert(type, "step", HOFFSET(EventRow, step), H5T_NATIVE_INT64);
    H5Tinsert(type, "kind", HOFFSET(EventRow, kind), hdf5::text_type(kind_bytes));
    H5Tinsert(type, "text", HOFFSET(EventRow, text), hdf5::text_type(text_bytes));
    return type;
}

EventRow event_row(const RunEvent& event) {
    EventRow row{event.step, {}, {}};
    const std::string kind = hdf5::cut_text(event.kind, kind_bytes),
                      text = hdf5::cut_text(event.text, text_bytes);
    std::memcpy(row.kind, kind.data(), kind.size());
    std::memcpy(row.text, text.data(), text.size());
    return row;
}

void write_probe(hid_t probes, const std::vector<ProbeResult>& samples) {
    const ProbeSchema schema = schema_of(samples.front());
    check_schema(schema);
    const Handle group = hdf5::make_group(probes, schema.probe);
    write_labels(group, schema);
    std::vector<std::int64_t> steps;
    std::vector<double> costs;
    for (const auto& sample : samples) {
        steps.push_back(sample.step);
        costs.push_back(sample.cost_ms);
        if (sample.arrays.size() != schema.arrays.size())
            throw InputError("probe " + schema.probe + ": its samples hold different arrays");
    }
    hdf5::write_array(group, "step", {steps.size()}, steps.data());
    hdf5::write_array(group, "cost_ms", {costs.size()}, costs.data());
    for (std::size_t a = 0; a < schema.arrays.size(); ++a) {
        const ArraySchema& array = schema.arrays[a];
        std::vector<double> values;
        values.reserve(samples.size() * hdf5::element_count(array.shape));
        for (const auto& sample : samples) {
            const NamedArray& part = sample.arrays[a];
            if (part.name != array.name || part.shape != array.shape ||
                part.data.size() != hdf5::element_count(array.shape))
                throw InputError("probe " + schema.probe + ": its samples differ in the array " + array.name);
            values.insert(values.end(), part.data.begin(), part.data.end());
        }
        hdf5::Shape shape = array.shape;
        shape.insert(shape.begin(), samples.size());
        hdf5::write_array(group, array.name, shape, values.data(), true);
        write_array_attributes(group, array);
    }
}

void write_run(hid_t runs, const RunData& run) {
    check_id(run.id);
    check_table(run.steps);
    const Handle group = hdf5::make_group(runs, run.id);
    write_header(group, header_of(run));
    write_outcome(group, run.outcome);
    write_steps(group, run.steps);
    write_overview(group, run.steps);
    const Handle probes = hdf5::make_group(group, "probes");
    for (const auto& [id, samples] : run.probes)
        if (!samples.empty()) write_probe(probes, samples);
    write_events(group, run.events);
}

}  // namespace normscope::layout
