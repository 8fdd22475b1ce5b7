// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/validate.h"

#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"

#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

int validate_file(const std::string& path) {
    if (is_hdf5(path)) {
        settle(path);
        const auto problems = validate_session(path);
        for (const std::string& problem : problems) print_error(problem);
        if (!problems.empty()) return kWrongInput;
    } else {
        load_recipe(path);
    }
    std::cout << path << ": sound\n";
    return kDone;
}

}  // namespace

void add_validate(CLI::App& program, Task& task) {
    auto file = std::make_shared<std::string>();
    auto* command = program.add_subcommand("validate", "whether a recipe, session or recording is sound");
    command->add_option("FILE", *file, "a recipe (JSON), session or recording (HDF5)")->required();
    command->callback([file, &task] { task = [file] { return validate_file(*file); }; });
}

}  // namespace normscope::app
