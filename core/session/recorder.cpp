// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/recorder.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/session/growing_dataset.h"
#include "core/session/process/guard.h"
#include "core/session/replacing_file.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <new>
#include <optional>

namespace normscope {
namespace {

using hdf5::GrowingDataset;
using hdf5::Handle;
using hdf5::Scalar;
using Clock = std::chrono::steady_clock;
constexpr auto flush_interval = std::chrono::milliseconds(100);

GrowingDataset growing(hid_t parent, const std::string& name, Scalar type,
                       const hdf5::Shape& row_shape = {}) {
    return {parent, name, Handle(H5Tcopy(hdf5::native_type(type))), row_shape};
}

/// A data set of one value that is overwritten in place.
class Cell {
  public:
    Cell(hid_t parent, const std::string& name, Handle type) : type_(std::move(type)) {
        const hsize_t one = 1;
        const Handle space(H5Screate_simple(1, &one, nullptr));
        dataset_ =
            Handle(H5Dcreate2(parent, name.c_str(), type_, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        if (!dataset_.valid()) hdf5::fail_writing(parent, name);
    }
    void write(const void* value) {
        if (H5Dwrite(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0 || H5Dflush(dataset_) < 0)
            hdf5::fail_writing(dataset_, "");
    }
    void write_text(const std::string& text) {
        std::string padded = hdf5::cut_text(text, H5Tget_size(type_));
        padded.resize(H5Tget_size(type_));
        write(padded.data());
    }

  private:
    Handle type_, dataset_;
};

Cell number_cell(hid_t parent, const std::string& name, Scalar type) {
    return {parent, name, Handle(H5Tcopy(hdf5::native_type(type)))};
}

struct ProbeWriter {
    ProbeSchema schema;
    GrowingDataset step, cost;
    std::vector<GrowingDataset> arrays;

    ProbeWriter(hid_t probes, const ProbeSchema& wanted)
        : ProbeWriter(hdf5::make_group(probes, wanted.probe), wanted, 0) {}

    void append(const ProbeResult& result) {
        const std::string who = "probe " + schema.probe;
        if (result.arrays.size() != arrays.size())
            throw InputError(who + ": holds other arrays than the recording");
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const auto& array = result.arrays[i];
            if (array.name != schema.arrays[i].name || array.shape != schema.arrays[i].shape ||
                array.data.size() != arrays[i].row_elements())
                throw InputError(who + ": the array " + array.name + " " + hdf5::shape_text(array.shape) +
                                     " is not that of the recording",
                                 schema.arrays[i].name, hdf5::shape_text(schema.arrays[i].shape));
        }
        for (auto& array : arrays) array.reserve_row();
        cost.reserve_row();
        step.reserve_row();
        for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].append(result.arrays[i].data.data());
        cost.append(&result.cost_ms);
        step.append(&result.step);
    }

    void write() {
        for (auto& array : arrays) array.write();
        cost.write();
        step.write();
    }

  private:
    ProbeWriter(const Handle& group, const ProbeSchema& wanted, int)
        : schema(wanted),
          step(growing(group, "step", Scalar::Int64)),
          cost(growing(group, "cost_ms", Scalar::Float64)) {
        layout::check_schema(schema);
        layout::write_labels(group, schema);
        for (const auto& array : schema.arrays) {
            arrays.push_back(growing(group, array.name, Scalar::Float64, array.shape));
            layout::write_array_attributes(group, array);
        }
    }
};

/// What may be overwritten: an empty file or a Normscope session.
void reject_foreign(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error)) return;
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
}

}  // namespace

struct Recorder::Impl {
    std::string path;
    Handle file;
    std::vector<std::string> columns;
    std::optional<GrowingDataset> step, events;
    std::vector<GrowingDataset> values;
    std::map<std::string, ProbeWriter> probes;
    std::optional<Cell> state, outcome_step, outcome_layer, outcome_text, pulse;
    Clock::time_point last_flush = Clock::now();
    std::string failure;  ///< why recording stopped
    std::atomic<bool> in_use = false;
    FileIdentity recorded;  ///< known as being recorded by this process

    ~Impl() { recording_ended(recorded); }

    /// Records nothing after the first failure: a gap in the middle would look like a sound run.
    template <typename Action>
    void guarded(Action action) {
        NORMSCOPE_ASSERT(!in_use.exchange(true), "one thread at a time records a run");
        const struct Leaving {
            std::atomic<bool>& in_use;
            ~Leaving() { in_use = false; }
        } leaving{in_use};
        if (!failure.empty()) throw SystemError(failure);
        try {
            action();
        } catch (const SystemError& error) {
            failure = error.what();
            recording_ended(recorded);
            throw;
        } catch (const std::bad_alloc&) {
            failure = path + ": there is no memory to record what follows";
            recording_ended(recorded);
            throw SystemError(failure);
        }
    }

    void build(const RecordingSchema& schema) {
        layout::check_id(schema.run.id);
        layout::write_root(file);
        const Handle runs = hdf5::make_group(file, "runs"), run = hdf5::make_group(runs, schema.run.id);
        layout::write_header(run, schema.run);
        layout::write_writer(run, this_process());
        state.emplace(run, "state", hdf5::text_type(layout::state_bytes));
        const Handle outcome = hdf5::make_group(run, "outcome");
        outcome_step = number_cell(outcome, "step", Scalar::Int64);
        outcome_layer = number_cell(outcome, "layer", Scalar::Int32);
        outcome_text.emplace(outcome, "text", hdf5::text_type(layout::text_bytes));
        pulse = number_cell(run, "heartbeat", Scalar::Int64);
        const Handle steps = hdf5::make_group(run, "steps");
        step = growing(steps, "step", Scalar::Int64);
        for (const auto& name : columns) values.push_back(growing(steps, name, Scalar::Float64));
        const Handle probe_groups = hdf5::make_group(run, "probes");
        for (const auto& probe : schema.probes) probes.emplace(probe.probe, ProbeWriter(probe_groups, probe));
        events.emplace(run, "events", layout::event_type(), hdf5::Shape{});
    }

    void add(const StepRecord& record) {
        const bool same = record.values.size() == columns.size() &&
                          std::equal(columns.begin(), columns.end(), record.values.begin(),
                                     [](const auto& name, const auto& entry) { return name == entry.first; });
        if (!same)
            throw InputError("step " + std::to_string(record.step) +
                             ": its columns are not those of the recording");
        for (auto& column : values) column.reserve_row();
        step->reserve_row();
        for (std::size_t i = 0; i < values.size(); ++i) values[i].append(&record.values[i].second);
        step->append(&record.step);
    }

    void add(const ProbeResult& result) {
        const auto probe = probes.find(result.probe);
        if (probe == probes.end()) throw InputError("probe " + result.probe + ": is not in the recording");
        probe->second.append(result);
    }

    void add(const RunEvent& event) {
        const layout::EventRow row = layout::event_row(event);
        events->append(&row);
    }

    void add(const RunData& history) {
        for (std::size_t row = 0; row < history.steps.rows(); ++row) {
            StepRecord record{history.steps.step[row], {}};
            for (std::size_t c = 0; c < history.steps.names.size(); ++c)
                record.values.emplace_back(history.steps.names[c], history.steps.columns[c][row]);
            add(record);
        }
        for (const auto& [id, samples] : history.probes)
            for (const auto& sample : samples) add(sample);
        for (const auto& event : history.events) add(event);
    }

    void write_state(const Outcome& outcome) {
        const std::int32_t layer = outcome.layer;
        outcome_step->write(&outcome.step);
        outcome_layer->write(&layer);
        outcome_text->write_text(outcome.text);
        state->write_text(run_state_word(outcome.state));
    }

    void write_pulse() {
        const std::int64_t now = unix_time_ms();
        pulse->write(&now);
    }

    void flush() {
        events->write();
        for (auto& [id, probe] : probes) probe.write();
        for (auto& column : values) column.write();
        step->write();
        last_flush = Clock::now();
    }

    void flush_when_due() {
        if (Clock::now() - last_flush >= flush_interval) flush();
    }

    /// Data sets are closed before their file.
    void release() {
        probes.clear();
        values.clear();
        for (auto* cell : {&state, &outcome_step, &outcome_layer, &outcome_text, &pulse}) cell->reset();
        step.reset();
        events.reset();
    }
};

Recorder::Recorder(const std::string& path, const RecordingSchema& schema, const RunData* history)
    : impl_(std::make_unique<Impl>()) {
    reject_foreign(path);
    ReplacingFile place(path);
    impl_->path = path;
    impl_->columns = schema.columns;
    impl_->file = hdf5::create_file(place.temporary(), hdf5::Purpose::Recording);
    impl_->build(schema);
    if (history) impl_->add(*history);
    impl_->write_state({RunState::Running, -1, {}, -1});
    impl_->write_pulse();
    impl_->flush();
    if (H5Fstart_swmr_write(impl_->file) < 0) hdf5::fail_writing(impl_->file, "");
    if (H5Fflush(impl_->file, H5F_SCOPE_LOCAL) < 0) hdf5::fail_writing(impl_->file, "");
    impl_->recorded = place.commit();
    recording_begun(impl_->recorded);
}

Recorder::~Recorder() {
    try {
        close();
    } catch (const std::exception&) {
        // A destructor cannot report errors; close() does.
        const hdf5::Abandon forget;
        impl_.reset();
    }
}

void Recorder::append(const StepRecord& record) {
    impl_->guarded([&] {
        impl_->add(record);
        impl_->flush_when_due();
    });
}

void Recorder::append(const ProbeResult& result) {
    impl_->guarded([&] {
        impl_->add(result);
        impl_->flush_when_due();
    });
}

void Recorder::append(const RunEvent& event) {
    impl_->guarded([&] {
        impl_->add(event);
        impl_->flush_when_due();
    });
}

void Recorder::set_state(const Outcome& outcome) {
    impl_->guarded([&] {
        impl_->flush();
        impl_->write_state(outcome);
    });
}

void Recorder::heartbeat() {
    impl_->guarded([&] {
        impl_->flush_when_due();
        impl_->write_pulse();
    });
}

void Recorder::flush() {
    impl_->guarded([&] { impl_->flush(); });
}

void Recorder::close() {
    if (!impl_->file.valid()) return;
    impl_->guarded([&] { impl_->flush(); });
    impl_->release();
    hdf5::close_file(std::move(impl_->file), impl_->path);
    mark_verified(impl_->path);
    recording_ended(impl_->recorded);
}

const std::string& Recorder::path() const {
    return impl_->path;
}

}  // namespace normscope
