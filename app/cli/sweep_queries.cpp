// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep_queries.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_status.h"

#include <charconv>
#include <iostream>

namespace normscope::app {

namespace {

/// As one word of a shell.
std::string shell_word(const std::string& text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_./=,:+@%").find(c) != std::string_view::npos;
    };
    bool all = !text.empty();
    for (const char c : text) all = all && plain(c);
    if (all) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string command_of(const SweepSpec& spec, const SweepRun& run, const std::string& out) {
    std::string command = "normscope-cli train " + shell_word(out + "/recipe.json");
    for (const std::string& setting : settings_of(spec, run)) command += " --set " + shell_word(setting);
    return command + " --out " + shell_word(out + "/" + run.recording) + " --resume --diverged-ok";
}

std::size_t run_number(const std::string& text, std::size_t runs) {
    std::size_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1 || number > runs)
        throw InputError("--list", quoted(text) + " is no run", "1 to " + std::to_string(runs));
    return number;
}

}  // namespace

void list_commands(const SweepSpec& spec, const std::string& out, const SweepShard& shard,
                   const std::optional<std::string>& number) {
    if (!spec.choice.keys.empty())
        throw InputError("--list", "a sweep that chooses values is trained as a whole",
                         "sweep without --list");
    const std::vector<SweepRun> runs = expand_sweep(spec);
    Corpora corpora;
    require_valid(spec, runs, corpora);
    const std::size_t one = number ? run_number(*number, runs.size()) : 0;
    const SweepFolder folder(out, spec);
    replace_text_file(folder.path() + "/recipe.json", spec.recipe + "\n");
    for (const SweepRun& run : runs)
        if (one > 0 ? run.index + 1 == one : shard.has(run.index))
            std::cout << command_of(spec, run, folder.path()) << "\n";
}

void print_status(const std::vector<std::string>& folders, bool json) {
    std::vector<std::string> all;
    for (const std::string& folder : folders)
        for (std::string& each : sweep_folders(folder)) all.push_back(std::move(each));
    const SweepStatus status = sweep_status(all);
    if (!json) {
        std::cout << status.text() << "\n";
        return;
    }
    nlohmann::ordered_json states = nlohmann::ordered_json::object();
    for (const auto& [state, count] : status.states) states[run_state_word(state)] = count;
    const nlohmann::ordered_json line{{"version", 1},
                                      {"runs", status.total},
                                      {"states", std::move(states)},
                                      {"not_started", status.not_started()},
                                      {"complete", status.complete()}};
    std::cout << json_text(line) << "\n";
}

}  // namespace normscope::app
