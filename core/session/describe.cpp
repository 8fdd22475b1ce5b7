// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/describe.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace normscope {
namespace {

using hdf5::Handle;

ProbeSummary summarize_probe(hid_t probes, const std::string& id, bool recording) {
    const Handle group = hdf5::open_group(probes, id);
    ProbeSummary summary{id, layout::common_rows(group, recording), {}};
    for (const auto& name : hdf5::children(group)) {
        if (name == "step" || name == "cost_ms") continue;
        hdf5::Shape shape = hdf5::dataset_shape(hdf5::open_dataset(group, name));
        shape.erase(shape.begin());
        summary.arrays.emplace_back(name, shape);
    }
    return summary;
}

/// The value in row `row`, read alone: tables may be long.
template <typename T>
T value_at(hid_t group, const std::string& name, std::size_t row) {
    const Handle dataset = hdf5::open_dataset(group, name);
    hdf5::check_array(dataset, hdf5::scalar_of<T>(), 1, row + 1);
    const hsize_t start = row, count = 1;
    const Handle in_file(H5Dget_space(dataset)), in_memory(H5Screate_simple(1, &count, nullptr));
    T value{};
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, nullptr, &count, nullptr) < 0 ||
        H5Dread(dataset, hdf5::native_type(hdf5::scalar_of<T>()), in_memory, in_file, H5P_DEFAULT, &value) <
            0)
        hdf5::fail_reading(group, name, hdf5::last_error());
    return value;
}

constexpr std::int64_t kFirstSteps = 50;  ///< in which automatic probes are sampled densely

template <typename T>
std::vector<T> column(hid_t group, const std::string& name, std::size_t rows) {
    const Handle dataset = hdf5::open_dataset(group, name);
    if (hdf5::check_array(dataset, hdf5::scalar_of<T>(), 1, rows)[0] < rows)
        hdf5::fail_reading(group, name, "is shorter than its group");
    std::vector<T> values(rows);
    hdf5::read_rows(dataset, hdf5::native_type(hdf5::scalar_of<T>()), rows, values.data());
    return values;
}

/// Σ values of the rows whose step lies below kFirstSteps, and of the others.
struct Sums {
    double early = 0, late = 0;
};
Sums sums_by_step(hid_t group, const std::string& name, std::size_t rows) {
    const auto steps = column<std::int64_t>(group, "step", rows);
    const auto values = column<double>(group, name, rows);
    Sums sums;
    for (std::size_t i = 0; i < rows; ++i) (steps[i] < kFirstSteps ? sums.early : sums.late) += values[i];
    return sums;
}

RunSummary summarize_run(hid_t runs, const std::string& id, bool marked) {
    const Handle run = hdf5::open_group(runs, id), steps = hdf5::open_group(run, "steps");
    const bool recording = marked || hdf5::is_group(run, "writer");
    RunSummary summary;
    summary.id = id;
    summary.name = hdf5::read_text_attribute(run, "name");
    summary.backend = hdf5::read_text_attribute(run, "backend");
    summary.device = hdf5::read_text_attribute(run, "device");
    summary.outcome = layout::read_outcome(run);
    summary.rows = layout::common_rows(steps, recording);
    summary.last_loss = std::nan("");
    if (summary.rows > 0) {
        summary.last_step = value_at<std::int64_t>(steps, "step", summary.rows - 1);
        if (hdf5::exists(steps, "loss"))
            summary.last_loss = value_at<double>(steps, "loss", summary.rows - 1);
    }
    summary.least_loss = summary.largest_loss = std::nan("");
    if (const auto overview = layout::read_overview(run)) {
        const auto loss = std::find(overview->names.begin(), overview->names.end(), "loss");
        const auto column = static_cast<std::size_t>(loss - overview->names.begin());
        for (std::size_t i = 0; loss != overview->names.end() && i < overview->blocks(); ++i) {
            summary.least_loss = std::fmin(summary.least_loss, overview->low[column][i]);
            summary.largest_loss = std::fmax(summary.largest_loss, overview->high[column][i]);
        }
    }
    const Handle probes = hdf5::open_group(run, "probes");
    const bool timed = summary.rows > 0 && hdf5::exists(steps, "step_ms");
    const Sums training =
        timed ? sums_by_step(steps, "step_ms", summary.rows) : Sums{std::nan(""), std::nan("")};
    for (const auto& probe : hdf5::children(probes)) {
        ProbeSummary& made = summary.probes.emplace_back(summarize_probe(probes, probe, recording));
        const Sums cost = sums_by_step(hdf5::open_group(probes, probe), "cost_ms", made.samples);
        made.early_share = cost.early / training.early;
        made.late_share = cost.late / training.late;
    }
    if (hdf5::is_group(run, "checkpoints")) {
        const Handle checkpoints = hdf5::open_group(run, "checkpoints");
        summary.checkpoints = hdf5::children(checkpoints);
        for (const auto& name : summary.checkpoints) {
            std::int64_t step = 0;
            const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
            if (error != std::errc() || end != name.data() + name.size())
                hdf5::fail_reading(checkpoints, name, "is not named by a step");
        }
    }
    return summary;
}

/// Probe time as a share of the training steps, each and in total; skipped without steps.
void describe_cost(const RunSummary& run, std::vector<std::string>& lines) {
    const auto line = [&](const std::string& when, double ProbeSummary::*share) {
        std::string parts;
        double all = 0;
        for (const auto& probe : run.probes) {
            const double part = probe.*share;
            if (!std::isfinite(part)) return;
            if (part == 0) continue;
            all += part;
            parts += (parts.empty() ? "" : ", ") + probe.id + " " + plain_number(100 * part) + " %";
        }
        if (!parts.empty())
            lines.push_back("  probe time " + when + ", of the steps': " + plain_number(100 * all) + " % (" +
                            parts + ")");
    };
    line("in the first 50 steps", &ProbeSummary::early_share);
    line("from step 50 on", &ProbeSummary::late_share);
}

void describe_run(const RunSummary& run, std::vector<std::string>& lines) {
    std::string line = "run " + run.id + "  \"" + run.name + "\"  " + run_state_word(run.outcome.state);
    if (!run.outcome.text.empty()) line += " (" + run.outcome.text + ")";
    lines.push_back(line);
    line = "  steps " + std::to_string(run.rows);
    if (run.rows > 0)
        line += ", last " + std::to_string(run.last_step) + ", loss " + plain_number(run.last_loss);
    if (std::isfinite(run.least_loss))
        line += " (" + plain_number(run.least_loss) + " to " + plain_number(run.largest_loss) + ")";
    lines.push_back(line + "; " + run.backend + (run.device.empty() ? "" : " on " + run.device));
    for (const auto& probe : run.probes) {
        line = "  probe " + probe.id + ": " + std::to_string(probe.samples) + " samples of";
        for (std::size_t i = 0; i < probe.arrays.size(); ++i)
            line += (i ? ", " : " ") + probe.arrays[i].first + " " + hdf5::shape_text(probe.arrays[i].second);
        lines.push_back(line);
    }
    describe_cost(run, lines);
    for (const auto& step : run.checkpoints) lines.push_back("  checkpoint of step " + step);
}

void list_datasets(hid_t group, const std::string& prefix, int depth, std::vector<std::string>& lines) {
    if (depth > 16) return hdf5::fail_reading(group, "", "groups are nested more than 16 deep");
    for (const auto& name : hdf5::children(group)) {
        const std::string full = prefix + "/" + name;
        if (hdf5::is_group(group, name)) {
            list_datasets(hdf5::open_group(group, name), full, depth + 1, lines);
            continue;
        }
        const Handle dataset = hdf5::open_dataset(group, name);
        const auto type = hdf5::dataset_scalar(dataset);
        lines.push_back(full + "  " + hdf5::scalar_name(type) + " " +
                        hdf5::shape_text(hdf5::dataset_shape(dataset)));
    }
}

std::string format_of(hid_t file) {
    return hdf5::has_attribute(file, "format") ? hdf5::read_text_attribute(file, "format") : "";
}

}  // namespace

std::vector<RunHead> heads_of(const std::string& path) {
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    const Handle runs = hdf5::open_group(opened.file, "runs");
    std::vector<RunHead> heads;
    for (const auto& id : hdf5::children(runs)) {
        const Handle run = hdf5::open_group(runs, id), steps = hdf5::open_group(run, "steps");
        RunHead head{hdf5::read_text_attribute(run, "name"), layout::read_outcome(run)};
        const std::size_t rows =
            layout::common_rows(steps, opened.recording || hdf5::is_group(run, "writer"));
        if (rows > 0) {
            head.last_step = value_at<std::int64_t>(steps, "step", rows - 1);
            if (hdf5::exists(steps, "loss")) head.last_loss = value_at<double>(steps, "loss", rows - 1);
        }
        heads.push_back(std::move(head));
    }
    return heads;
}

std::vector<double> losses_of(const std::string& path) {
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    const Handle runs = hdf5::open_group(opened.file, "runs");
    const std::vector<std::string> ids = hdf5::children(runs);
    if (ids.empty()) return {};
    const Handle run = hdf5::open_group(runs, ids.front()), steps = hdf5::open_group(run, "steps");
    const std::size_t rows = layout::common_rows(steps, opened.recording || hdf5::is_group(run, "writer"));
    if (rows == 0 || !hdf5::exists(steps, "loss")) return {};
    return column<double>(steps, "loss", rows);
}

std::vector<RunSummary> summarize_session(const std::string& path) {
    const auto opened = hdf5::open_for_reading(path);
    layout::check_root(opened.file, path);
    const Handle runs = hdf5::open_group(opened.file, "runs");
    std::vector<RunSummary> summaries;
    for (const auto& id : hdf5::children(runs))
        summaries.push_back(summarize_run(runs, id, opened.recording));
    return summaries;
}

std::vector<std::string> describe(const std::string& path) {
    std::vector<std::string> lines;
    const auto opened = hdf5::open_for_reading(path);
    const std::string format = format_of(opened.file);
    if (format == "normscope-session") {
        layout::check_root(opened.file, path);
        lines.push_back("Normscope session, version 1, written " +
                        hdf5::read_text_attribute(opened.file, "created") + " by Normscope " +
                        hdf5::read_text_attribute(opened.file, "app_version"));
        for (const auto& run : summarize_session(path)) describe_run(run, lines);
    } else {
        lines.push_back(format == "normscope-checkpoint" ? "Normscope checkpoint" : "HDF5 file");
        list_datasets(opened.file, "", 0, lines);
    }
    return lines;
}

}  // namespace normscope
