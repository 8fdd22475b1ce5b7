// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/validate.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <cmath>

namespace normscope {
namespace {

using hdf5::Handle;

/// The stack's sizes; 0 where the recipe is not readable.
StackSizes sizes_of(const RunData& run) {
    const Recipe* recipe = run.recipe.get();
    if (!recipe) return {};
    return {static_cast<std::size_t>(recipe->stack.depth), static_cast<std::size_t>(recipe->stack.heads),
            static_cast<std::size_t>(recipe->stack.d_model)};
}

template <typename Items, typename StepOf>
bool rising(const Items& items, StepOf step_of, bool strictly) {
    for (std::size_t i = 1; i < items.size(); ++i)
        if (step_of(items[i]) < step_of(items[i - 1]) ||
            (strictly && step_of(items[i]) == step_of(items[i - 1])))
            return false;
    return true;
}

class RunCheck {
  public:
    RunCheck(const RunData& run, std::vector<std::string>& problems)
        : run_(run), problems_(problems), diverged_(run.outcome.state == RunState::Diverged) {}

    void check() {
        if (!run_.recipe.get()) report("recipe", run_.recipe.problem());
        check_steps();
        for (const auto& [id, samples] : run_.probes) check_probe(id, samples);
        if (!rising(
                run_.events, [](const RunEvent& event) { return event.step; }, false))
            report("events", "steps do not rise");
    }

  private:
    void report(const std::string& object, const std::string& what) {
        problems_.push_back("run " + run_.id + ": " + object + ": " + what);
    }

    void check_steps() {
        const StepTable& table = run_.steps;
        if (!rising(
                table.step, [](std::int64_t step) { return step; }, true))
            report("steps/step", "does not rise");
        for (const char* name : {"loss", "val_loss", "grad_norm", "lr", "temperature", "tokens_per_s"})
            if (!table.find(name)) report(std::string("steps/") + name, "missing");
        for (std::size_t c = 0; c < table.names.size(); ++c) check_column(table.names[c], table.columns[c]);
    }

    void check_column(const std::string& name, const std::vector<double>& values) {
        const bool may_be_nan = name != "loss" && name != "lr" && name != "temperature";
        const bool measured = name == "loss" || name == "grad_norm" || name.starts_with("val_loss");
        for (std::size_t row = 0; row < values.size(); ++row) {
            if (std::isfinite(values[row]) || (may_be_nan && std::isnan(values[row])) ||
                (measured && diverged_))
                continue;
            report("steps/" + name, "is not finite at step " + std::to_string(run_.steps.step[row]));
            return;
        }
    }

    void check_probe(const std::string& id, const std::vector<ProbeResult>& samples) {
        if (!rising(
                samples, [](const ProbeResult& sample) { return sample.step; }, true))
            report("probes/" + id + "/step", "does not rise");
        const ProbeInfo* known = find_probe(id);
        if (known)
            for (const std::string& problem : shape_problems(*known, samples.front(), sizes_of(run_)))
                report("probes/" + id + "/" + problem.substr(0, problem.find(':')),
                       problem.substr(problem.find(':') + 2));
        for (const auto& array : samples.front().arrays) {
            const ArrayInfo* info = known ? find_array(*known, array.name) : nullptr;
            // Of an unknown probe NaN is accepted, infinity is not; under a selection it is what was not
            // measured.
            check_values("probes/" + id + "/" + array.name, samples, array.name,
                         !info || info->flags & kMayBeNan || !samples.front().only().empty());
        }
        if (id == "null_space") check_sites(samples.front());
    }

    void check_values(const std::string& object, const std::vector<ProbeResult>& samples,
                      const std::string& name, bool may_be_nan) {
        if (diverged_) return;
        for (const auto& sample : samples)
            for (const double value : sample.find(name)->data)
                if (std::isinf(value) || (std::isnan(value) && !may_be_nan))
                    return report(object, "is not finite at step " + std::to_string(sample.step));
    }

    void check_sites(const ProbeResult& sample) {
        const auto sites = sample.labels.find("sites");
        const NamedArray* gain = sample.find("gain");
        // A stack without norms has no sites, and an attribute cannot be empty.
        const std::size_t named = sites == sample.labels.end() ? 0 : sites->second.size();
        if (gain && gain->shape.size() == 1 && gain->shape[0] != named)
            report("probes/null_space",
                   "names " + std::to_string(named) + " sites, measures " + std::to_string(gain->shape[0]));
    }

    const RunData& run_;
    std::vector<std::string>& problems_;
    const bool diverged_;
};

}  // namespace

std::vector<std::string> validate_session(const std::string& path) {
    std::vector<std::string> problems;
    try {
        const auto opened = hdf5::open_for_reading(path);
        layout::check_root(opened.file, path);
        for (const char* name : {"app_version", "created"})
            if (!hdf5::has_attribute(opened.file, name))
                problems.push_back(path + ": /" + name + ": missing");
        const Handle runs = hdf5::open_group(opened.file, "runs");
        for (const auto& id : hdf5::children(runs)) {
            try {
                const auto read = layout::read_run(runs, id, opened.recording);
                problems.insert(problems.end(), read.warnings.begin(), read.warnings.end());
                RunCheck(read.data, problems).check();
            } catch (const InputError& error) {
                problems.push_back(error.what());
            }
        }
    } catch (const InputError& error) {
        problems.push_back(error.what());
    }
    return problems;
}

}  // namespace normscope
