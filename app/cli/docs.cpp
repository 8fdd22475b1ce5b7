// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/pages/pages.h"
#include "app/cli/window_program.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

namespace {

/// Pages that the window's program writes, since panels need Qt.
constexpr const char* kWindowPages[] = {"panels", "window-program"};

Page index_page(const std::vector<Page>& pages) {
    std::string text = paragraph(
        "These pages are written by the program (`normscope-cli docs --out DIR`) from what it itself reads; "
        "they cannot "
        "differ from it.");
    text += "```{toctree}\n:maxdepth: 1\n\n";
    for (const Page& page : pages) text += page.name + "\n";
    for (const char* page : kWindowPages) text += std::string(page) + "\n";
    text += "```\n";
    return {"index", "Reference", text};
}

int write_docs(const CLI::App& program, const std::string& folder) {
    const std::vector<Page> pages{commands_page(program), recipe_keys_page(), schemes_page(),
                                  presets_page(),         probes_page(),      session_page(),
                                  claims_page(),          gallery_page(),     stories_page()};
    for (const Page& page : pages) write_page(folder, page);
    write_page(folder, index_page(pages));
    std::cout << folder << ": " << pages.size() + 1 << " pages\n";
    return run_window_program("docs", {"docs", "--out", folder});
}

}  // namespace

void add_docs(CLI::App& program, Task& task) {
    auto folder = std::make_shared<std::string>();
    auto* command = program.add_subcommand(
        "docs",
        "the reference as pages of Markdown: commands, recipe keys, probes, panels, session files, claims");
    command
        ->add_option(
            "--out", *folder,
            "the folder of the pages; those of the panels are written by the program normscope in the same "
            "folder as this one or the one above")
        ->required();
    command->callback(
        [folder, &program, &task] { task = [folder, &program] { return write_docs(program, *folder); }; });
}

}  // namespace normscope::app
