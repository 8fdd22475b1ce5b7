// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "core/base/error.h"
#include "core/probe/interface/cadence.h"
#include "core/probe/registry.h"

#include <iostream>
#include <memory>
#include <string>

namespace normscope::app {

namespace {

int list_probes(const std::string& id) {
    std::string allowed;
    bool found = false;
    for (const ProbeInfo& probe : probe_registry()) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(probe.id);
        if (!id.empty() && id != probe.id) continue;
        found = true;
        for (const std::string& line : describe_probe(probe)) std::cout << line << "\n";
    }
    if (!found) throw InputError("probes", "\"" + id + "\" is not known", allowed);
    return kDone;
}

}  // namespace

void add_probes(CLI::App& program, Task& task) {
    auto id = std::make_shared<std::string>();
    auto* command =
        program.add_subcommand("probes", "what each probe needs and measures: arrays, axes, units");
    command->footer(kCadenceHelp);
    command->add_option("ID", *id, "one probe alone");
    command->callback([id, &task] { task = [id] { return list_probes(*id); }; });
}

}  // namespace normscope::app
