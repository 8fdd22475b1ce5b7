// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_results.h"

#include "core/base/error.h"
#include "core/findings/held_out_loss.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

namespace normscope {

namespace {

constexpr const char* kHeldOutColumn = "held_out_loss";
const std::vector<std::string> kColumns{"seed",         "state",       "steps",   "final_loss", "best_loss",
                                        kHeldOutColumn, "diverged_at", "seconds", "recording"};

/// The lowest mean of `window` losses in a row; NaN where none is finite.
double lowest_mean(const std::vector<double>& losses, std::size_t window) {
    double best = std::nan("");
    for (std::size_t end = window; end <= losses.size(); ++end) {
        double sum = 0;
        for (std::size_t i = end - window; i < end; ++i) sum += losses[i];
        best = std::fmin(best, sum / static_cast<double>(window));  // fmin skips NaN
    }
    return best;
}

double sum_of(const std::vector<double>* column) {
    double sum = 0;
    for (std::size_t i = 0; column && i < column->size(); ++i)
        if (std::isfinite((*column)[i])) sum += (*column)[i];
    return sum;
}

std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string line_of(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + field(fields[i]);
    return line + "\n";
}

std::vector<std::string> header_of(const SweepSpec& spec) {
    std::vector<std::string> names;
    for (const SweepAxis& axis : spec.grid) names.push_back(axis.key);
    names.insert(names.end(), kColumns.begin(), kColumns.end());
    return names;
}

/// The place of held_out_loss among the fields of a row.
std::size_t place_of_held_out(const SweepSpec& spec) {
    const auto at = std::find(kColumns.begin(), kColumns.end(), kHeldOutColumn);
    return spec.grid.size() + static_cast<std::size_t>(at - kColumns.begin());
}

/// Gives the records of a version without the column held_out_loss an empty one.
void complete_columns(const SweepSpec& spec, std::vector<std::vector<std::string>>& records) {
    const std::vector<std::string> header = header_of(spec);
    std::vector<std::string> earlier = header;
    const auto at = static_cast<std::ptrdiff_t>(place_of_held_out(spec));
    earlier.erase(earlier.begin() + at);
    if (records.empty() || records.front() != earlier) return;
    for (std::vector<std::string>& fields : records)
        if (fields.size() == earlier.size()) fields.insert(fields.begin() + at, std::string());
    records.front() = header;
}

std::string optional_number(const std::optional<double>& value) {
    return value ? short_number_text(*value) : "";
}

std::vector<std::string> fields_of(const SweepRun& run, const SweepRow& row, bool timed) {
    std::vector<std::string> fields = run.values;
    char seconds[40] = "";
    if (timed && row.seconds) std::snprintf(seconds, sizeof seconds, "%.3f", *row.seconds);
    for (const std::string& text :
         {std::to_string(run.seed), std::string(run_state_word(row.state)), std::to_string(row.steps),
          optional_number(row.final_loss), optional_number(row.best_loss), optional_number(row.held_out_loss),
          row.diverged_at ? std::to_string(*row.diverged_at) : std::string(), std::string(seconds),
          row.recording})
        fields.push_back(text);
    return fields;
}

/// The records of a CSV text; quoted fields as in RFC 4180. Empty where a quote is not closed or the last
/// line has no end.
std::vector<std::vector<std::string>> records_of(const std::string& csv) {
    std::vector<std::vector<std::string>> records;
    std::vector<std::string> fields{""};
    bool quoted = false;
    for (std::size_t i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        if (quoted) {
            if (c != '"')
                fields.back() += c;
            else if (i + 1 < csv.size() && csv[i + 1] == '"')
                fields.back() += csv[++i];
            else
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            records.push_back(std::move(fields));
            fields.assign(1, "");
        } else {
            fields.back() += c;
        }
    }
    if (quoted || fields.size() > 1 || !fields.back().empty()) return {};
    return records;
}

/// Throws where the text is not a number of this kind.
template <class Number>
Number number_of(const std::string& text, const std::string& where) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw InputError(where + ": damaged: \"" + text + "\" is no number");
    return value;
}

template <class Number>
std::optional<Number> optional_of(const std::string& text, const std::string& where) {
    if (text.empty()) return std::nullopt;
    return number_of<Number>(text, where);
}

}  // namespace

std::optional<double> compared_loss(const SweepRow& row) {
    if (row.state == RunState::Failed) return std::nullopt;
    const bool counts = row.state != RunState::Diverged && row.final_loss && std::isfinite(*row.final_loss);
    return counts ? *row.final_loss : std::numeric_limits<double>::infinity();
}

SweepRow sweep_row(const SweepRun& run, const RunData& recorded) {
    SweepRow row;
    row.run = run.index;
    row.state = recorded.outcome.state;
    row.steps = static_cast<std::int64_t>(recorded.steps.rows());
    row.recording = run.recording;
    if (const auto* losses = recorded.steps.find("loss"); losses && !losses->empty()) {
        const std::size_t window = std::min(kLossWindow, losses->size());
        double sum = 0;
        for (std::size_t i = losses->size() - window; i < losses->size(); ++i) sum += (*losses)[i];
        row.final_loss = sum / static_cast<double>(window);
        row.best_loss = lowest_mean(*losses, window);
    }
    const auto held_out = held_out_loss(recorded);
    if (held_out && row.state != RunState::Diverged) row.held_out_loss = held_out->loss;
    if (recorded.outcome.state == RunState::Diverged) row.diverged_at = recorded.outcome.step;
    row.seconds = (sum_of(recorded.steps.find("step_ms")) + sum_of(recorded.steps.find("probe_ms"))) / 1e3;
    return row;
}

std::string results_csv(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                        const std::vector<SweepRow>& rows, bool timed) {
    std::vector<const SweepRow*> ordered;
    for (const SweepRow& row : rows) ordered.push_back(&row);
    std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->run < b->run; });
    std::string csv = line_of(header_of(spec));
    for (const SweepRow* row : ordered) csv += line_of(fields_of(runs[row->run], *row, timed));
    return csv;
}

std::vector<SweepRow> parse_results(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                                    const std::string& csv, const std::string& where) {
    auto records = records_of(csv);
    complete_columns(spec, records);
    if (records.empty() || records[0] != header_of(spec))
        throw InputError(where + ": damaged: does not begin with the columns of this sweep, or is cut off");
    std::map<std::vector<std::string>, const SweepRun*> by_fields;  // values and seed
    for (const SweepRun& run : runs) {
        std::vector<std::string> fields = run.values;
        fields.push_back(std::to_string(run.seed));
        by_fields[fields] = &run;
    }
    std::vector<bool> seen(runs.size());
    std::vector<SweepRow> rows;
    for (std::size_t line = 1; line < records.size(); ++line) {
        const std::vector<std::string>& fields = records[line];
        const std::string at = where + ": line " + std::to_string(line + 1);
        if (fields.size() != records[0].size())
            throw InputError(at + ": damaged: has " + std::to_string(fields.size()) + " of " +
                             std::to_string(records[0].size()) + " columns");
        const auto keys = static_cast<std::ptrdiff_t>(spec.grid.size() + 1);
        const auto run = by_fields.find({fields.begin(), fields.begin() + keys});
        if (run == by_fields.end()) throw InputError(at + ": is no run of this sweep");
        if (seen[run->second->index]) throw InputError(at + ": the run has two rows");
        seen[run->second->index] = true;
        const std::string* rest = fields.data() + keys;
        SweepRow row{run->second->index,
                     run_state_from_word(rest[0]),
                     number_of<std::int64_t>(rest[1], at),
                     optional_of<double>(rest[2], at),
                     optional_of<double>(rest[3], at),
                     optional_of<double>(rest[4], at),
                     optional_of<std::int64_t>(rest[5], at),
                     optional_of<double>(rest[6], at),
                     rest[7]};
        if (!row.recording.empty() && row.recording != run->second->recording)
            throw InputError(at + ": recording: \"" + row.recording + "\" is not " + run->second->recording);
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const SweepRow& a, const SweepRow& b) { return a.run < b.run; });
    return rows;
}

SweepResults read_sweep(const std::string& folder) {
    SweepResults results;
    results.spec = read_sweep_spec(folder);
    results.runs = expand_sweep(results.spec);
    results.rows = read_results(results.spec, results.runs, folder);
    return results;
}

std::vector<SweepRow> read_results(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                                   const std::string& folder) {
    const std::string path = folder + "/results.csv";
    const auto csv = text_of_file(path);
    return csv ? parse_results(spec, runs, *csv, path) : std::vector<SweepRow>{};
}

void require_same_sweep(const SweepSpec& spec, const std::string& folder, const std::string& first) {
    const std::string difference = sweep_difference(spec, read_sweep_spec(folder));
    if (!difference.empty())
        throw InputError(folder + ": " + difference, "it is of another sweep than " + first,
                         "folders of one sweep");
}

}  // namespace normscope
