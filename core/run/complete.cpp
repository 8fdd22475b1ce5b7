// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/complete.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "core/run/interventions/interventions.h"
#include "core/run/probe_steps.h"
#include "core/run/watchpoints.h"

namespace normscope {

namespace {

void complete_probes(Recipe& r) {
    if (r.probes.empty())
        for (const std::string& id : default_probes()) r.probes.push_back({id, 0});
    validate_probes(r);
    validate_watch(r);
}

}  // namespace

std::shared_ptr<const Corpus> complete_and_validate(Recipe& r, Corpora* corpora) {
    complete_probes(r);
    validate(r.train);
    auto corpus = corpora ? corpora->get(r.train.data, r.stack) : make_corpus(r.train.data, r.stack);
    const int source_vocab = corpus->vocab();
    complete(r.stack, source_vocab);
    validate(r.stack);
    if (r.stack.vocab < source_vocab)
        throw InputError(r.stack.of_images() ? "stack.classes" : "stack.vocab",
                         std::to_string(r.stack.vocab) + " is smaller than the " +
                             (r.stack.of_images() ? "number of classes" : "vocabulary") + " of data.source " +
                             word_of(r.train.data.source),
                         "at least " + std::to_string(source_vocab));
    validate_interventions(r);
    plan_probe_steps(r);
    return corpus;
}

void complete_without_data(Recipe& r) {
    complete_probes(r);
    validate(r.train);
    complete(r.stack, r.stack.vocab);
    validate(r.stack);
    validate_interventions(r);
    validate_selections(r);
}

Recipe load_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings) {
    Recipe recipe = read_recipe(file_or_preset, settings);
    complete_and_validate(recipe);
    return recipe;
}

}  // namespace normscope
