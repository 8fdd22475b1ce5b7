// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/options_table.h"

#include "app/cli/pages/markdown.h"

namespace normscope::app {

namespace {

/// "`--threads`, `-t`", or the name of an argument without dashes.
std::string names_of(const CLI::Option& option) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + code(name); };
    if (!option.get_lnames().empty() || !option.get_snames().empty()) {
        for (const std::string& name : option.get_lnames()) add("--" + name);
        for (const std::string& name : option.get_snames()) add("-" + name);
    } else {
        add(option.get_name(true));
    }
    return names;
}

std::string value_of(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return "–";
    std::string value = plain(option.get_type_name());
    if (option.get_required()) value += ", required";
    if (option.get_items_expected_max() > 1) value += ", one or several";
    if (!option.get_default_str().empty()) value += ", default " + code(option.get_default_str());
    return value;
}

}  // namespace

std::string options_table(const CLI::App& command) {
    std::vector<Cells> rows;
    for (const CLI::Option* option : command.get_options())
        rows.push_back({names_of(*option), value_of(*option), plain(option->get_description())});
    return table({"option", "value", "what it does"}, rows);
}

}  // namespace normscope::app
