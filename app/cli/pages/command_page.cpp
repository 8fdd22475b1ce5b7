// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/options_table.h"
#include "app/cli/pages/pages.h"

namespace normscope::app {

Page commands_page(const CLI::App& program) {
    std::string text = paragraph(plain(program.get_description()));
    text += paragraph(
        "Exit codes: 0 done (also stalled and collapsed: the state is printed), 1 failed, 2 wrong usage or "
        "input, 3 "
        "diverged, 4 interrupted: the same command with `--resume` continues. An error is one line on "
        "stderr: what, where, what is allowed. `normscope-cli COMMAND "
        "--help` prints "
        "what this page has of a command.");
    std::vector<Cells> rows;
    for (const CLI::App* command : program.get_subcommands(nullptr))
        rows.push_back({"[" + plain(command->get_name()) + "](#" + command->get_name() + ")",
                        plain(command->get_description())});
    text += table({"command", "what it does"}, rows);
    for (const CLI::App* command : program.get_subcommands(nullptr)) {
        text += heading(2, command->get_name());
        text += paragraph(plain(command->get_description()) + ".");
        if (!command->get_footer().empty()) text += paragraph(plain(command->get_footer()));
        text += options_table(*command);
    }
    return {"commands", "Commands of normscope-cli", text};
}

}  // namespace normscope::app
