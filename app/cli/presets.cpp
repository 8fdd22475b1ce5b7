// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/presets.h"

#include "app/cli/command.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/parameters.h"
#include "core/recipe/recipe.h"
#include "core/recipe/size_presets.h"

#include <cstdio>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

void list_preset(const Preset& preset, const std::string& size) {
    const auto recipe = strict_json(preset.json, preset.name);
    char line[512];
    std::snprintf(line, sizeof line, "%-20s %s%s\n", preset.name, size.c_str(),
                  recipe.value("description", "").c_str());
    std::cout << line;
}

int list_presets() {
    for (const Preset& preset : presets()) list_preset(preset, "");
    for (const Preset& preset : size_presets()) {
        Recipe recipe = parse_recipe(preset.json, preset.name);
        complete(recipe.stack, recipe.stack.vocab);
        char size[64];
        std::snprintf(size, sizeof size, "%.2f million parameters. ",
                      static_cast<double>(ParameterTable(recipe.stack).size()) / 1e6);
        list_preset(preset, size);
    }
    return kDone;
}

/// Every key, so that the output is a recipe to edit; sizes that follow from others stay "auto".
int print_preset(const std::string& name) {
    const Preset* preset = find_preset(name);
    if (!preset) {
        std::string allowed;
        for (const auto all : {presets(), size_presets()})
            for (const Preset& known : all)
                allowed += (allowed.empty() ? "" : ", ") + std::string(known.name);
        throw InputError("presets", "\"" + name + "\" is not known", allowed);
    }
    std::cout << recipe_json(parse_recipe(preset->json, name)) << "\n";
    return kDone;
}

}  // namespace

void add_presets(CLI::App& program, Task& task) {
    auto name = std::make_shared<std::string>();
    auto* command =
        program.add_subcommand("presets", "list the recipes that come with the program, or print one");
    command->add_option("NAME", *name, "a preset's name");
    command->callback(
        [name, &task] { task = [name] { return name->empty() ? list_presets() : print_preset(*name); }; });
}

}  // namespace normscope::app
