// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/comparison.h"

#include "core/recipe/hot_knobs.h"
#include "core/run/experiment.h"
#include "core/session/outline.h"
#include "widgets/figures/knobs/recipe_diff.h"

#include <algorithm>
#include <iterator>

namespace normscope::app {

namespace {

template <class Runs>
auto* foundRun(Runs& runs, const std::string& id) {
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == id; });
    return run == runs.end() ? nullptr : &*run;
}

bool allSame(const Comparison& now, KeyRef key) {
    return std::all_of(now.runs.begin(), now.runs.end(),
                       [&](const LabRun& run) { return key->same(run.recipe, now.runs.front().recipe); });
}

/// The name of a trained or pinned run; the others are named by nameUntrained().
void showName(LabRun& run) {
    if (!run.committed() && !run.fixed()) return;
    if (run.drawn_name.empty()) run.drawn_name = run.data->name;
    const std::string& name = run.given_name.empty() ? run.drawn_name : run.given_name;
    if (run.data->name == name) return;
    run.data = std::make_shared<RunData>(*run.data);  // an undo entry may hold the old one
    run.data->name = name;
}

}  // namespace

const LabRun* Comparison::find(const std::string& id) const {
    return foundRun(runs, id);
}

LabRun* Comparison::find(const std::string& id) {
    return foundRun(runs, id);
}

void assertSound(const Comparison& now) {
    NORMSCOPE_ASSERT(!now.runs.empty(), "the last run cannot be removed");
    NORMSCOPE_ASSERT(now.selected >= 0 && now.selected < std::ssize(now.runs), "one of the runs is selected");
    RunIds ids;
    for (const LabRun& run : now.runs) {
        NORMSCOPE_ASSERT(run.data != nullptr, "a run has data before it is measured, too");
        NORMSCOPE_ASSERT(ids.insert(run.id).second, "replies find a run by its id");
    }
}

bool Comparison::anyTraining() const {
    return std::any_of(runs.begin(), runs.end(), [](const LabRun& run) { return run.isTraining(); });
}

bool Comparison::changesPending() const {
    return std::any_of(runs.begin(), runs.end(), [](const LabRun& run) { return run.needsNewRun(); });
}

bool Comparison::exploring() const {
    return std::none_of(runs.begin(), runs.end(), [](const LabRun& run) { return run.trained(); });
}

qint64 Comparison::lastStep() const {
    qint64 last = -1;
    for (const LabRun& run : runs) last = std::max<qint64>(last, run.lastStep());
    return last;
}

QString notReadYet(const Comparison& now) {
    for (const LabRun& run : now.runs)
        if (run.data->unread)
            return QObject::tr("%1: not read to its end yet")
                .arg(QString::fromStdString(run.data->unread->path));
    return {};
}

const LabRun* recordedIn(const Comparison& now, const QString& path) {
    const auto run = std::find_if(now.runs.begin(), now.runs.end(), [&](const LabRun& r) {
        const std::string& recording = r.followed ? r.followed->path : r.recording;
        return !recording.empty() && recording == path.toStdString();
    });
    return run == now.runs.end() ? nullptr : &*run;
}

std::vector<KeyRef> differingKeys(const Comparison& now) {
    std::vector<KeyRef> differing;
    for (const RecipeKey& key : recipe_keys())
        if (!key.is_list() && !allSame(now, key)) differing.push_back(key);
    return differing;
}

RunIds targetsOf(const Comparison& now, KeyRef key) {
    const RunIds seeds = seedsOf(now, now.selectedRun().id);
    // The scheme and the placement of norms are what a comparison is about; observers may differ.
    const bool all = now.linked && key->name != "stack.scheme" && key->name != "stack.layers";
    RunIds targets;
    if (all && (key->is_list() || allSame(now, key))) {
        for (const LabRun& run : now.runs)
            if (!run.fixed()) targets.insert(run.id);
        return targets;
    }
    if (key->name == "seed") return now.selectedRun().fixed() ? RunIds{} : RunIds{now.selectedRun().id};
    for (const LabRun& run : now.runs)
        if (!run.fixed() && seeds.count(run.id)) targets.insert(run.id);
    return targets;
}

RunIds seedsOf(const Comparison& now, const std::string& id) {
    const LabRun* one = now.find(id);
    if (!one) return {};
    RunIds same{id};
    if (one->fixed()) return same;
    std::set<std::uint64_t> seeds{one->recipe.train.seed};
    for (const LabRun& run : now.runs) {
        if (run.fixed() || seeds.count(run.recipe.train.seed)) continue;
        Recipe recipe = run.recipe;
        recipe.train.seed = one->recipe.train.seed;
        if (!same_recipe(recipe, one->recipe)) continue;
        seeds.insert(run.recipe.train.seed);
        same.insert(run.id);
    }
    return same;
}

Comparison withSeeds(Comparison now, int count, const std::function<std::string()>& new_id) {
    std::vector<LabRun> all;
    std::set<std::string> done;
    for (const LabRun& run : now.runs) {
        if (done.count(run.id)) continue;
        const RunIds group = seedsOf(now, run.id);
        std::set<std::uint64_t> taken;
        for (const LabRun& member : now.runs)
            if (group.count(member.id)) {
                taken.insert(member.recipe.train.seed);
                // It may have been placed with another run of the same recipe and seed.
                if (done.insert(member.id).second) all.push_back(member);
            }
        // An imported model starts from its own weights, whatever the seed.
        if (run.fixed() || run.weights) continue;
        std::uint64_t seed = *taken.rbegin();
        for (int i = 0; i < count; ++i) {
            Recipe recipe = run.recipe;
            recipe.train.seed = ++seed;
            all.push_back(makeRun(new_id(), recipe));
        }
    }
    return withRuns(std::move(now), std::move(all));
}

Comparison withRuns(Comparison now, std::vector<LabRun> runs) {
    const std::string id = now.selectedRun().id;
    now.runs = std::move(runs);
    const LabRun* same = now.find(id);
    now.selected = same ? static_cast<int>(same - now.runs.data())
                        : std::clamp(now.selected, 0, static_cast<int>(now.runs.size()) - 1);
    return now;
}

Comparison withKey(Comparison now, const RunIds& targets, KeyRef key, const FieldValue& value) {
    for (LabRun& run : now.runs)
        if (targets.count(run.id)) key->set(run.recipe, value);
    return now;
}

Comparison withKeyOf(Comparison now, const RunIds& targets, KeyRef key, const Recipe& from) {
    for (LabRun& run : now.runs)
        if (targets.count(run.id)) run.recipe = widgets::withKeyOf(run.recipe, from, key);
    return now;
}

Comparison withRecipe(Comparison now, const Recipe& recipe) {
    LabRun& run = now.runs[static_cast<std::size_t>(now.selected)];
    if (run.trained() || run.isTraining() || run.fixed()) {
        run.recipe = recipe;
        run.pinned = false;
        run.weights.reset();
    } else {
        run = makeRun(run.id, recipe);
    }
    return now;
}

Comparison withPinned(Comparison now, const std::string& id) {
    LabRun copy = now.selectedRun();
    copy.id = id;
    copy.training = 0;  // what the run itself records from now on is not the copy's
    copy.recording.clear();
    copy.session.clear();
    copy.data = std::make_shared<RunData>(*copy.data);
    copy.data->id = id;
    copy.data->name += " (reference)";
    copy.followed.reset();
    if (copy.unfinished())
        copy.data->outcome = {RunState::Interrupted, copy.lastStep(), "duplicated while it trained", -1};
    copy.recipe = copy.live;
    copy.preview.reset();
    copy.pinned = true;
    now.runs.push_back(std::move(copy));  // the colours go by the place: the others keep theirs
    return now;
}

std::vector<LabRun> withLaterRecordings(std::vector<LabRun> then, const std::vector<LabRun>& replaced) {
    for (LabRun& run : then)
        if (const LabRun* present = foundRun(replaced, run.id)) {
            const LabRun before = std::move(run);
            run = *present;
            run.recipe = before.recipe;
            run.given_name = before.given_name;
            if (!run.drawn_name.empty()) showName(run);
            run.pinned = before.pinned;
            run.weights = before.weights;
        }
    return then;
}

Comparison restored(const Comparison& now, std::vector<LabRun> then) {
    return withRuns(now, withLaterRecordings(std::move(then), now.runs));
}

namespace {

/// An untrained run of a trained one's knobs.
LabRun freshRun(const LabRun& of, std::string id) {
    LabRun fresh = makeRun(std::move(id), of.recipe);
    fresh.weights = of.weights;
    if (of.preview) {
        fresh.data->probes = of.preview->probes;  // its step 0 is on screen already
        static_cast<LossLevels&>(*fresh.data) = *of.preview;
    }
    return fresh;
}

}  // namespace

NewRuns withNewRuns(Comparison now, const std::function<std::string()>& new_id) {
    NewRuns result{std::move(now), {}};
    std::vector<LabRun> added;
    for (LabRun& run : result.after.runs) {
        if (!run.needsNewRun()) continue;
        added.push_back(freshRun(run, new_id()));
        result.fresh.push_back(added.back().id);
        run.recipe = run.live;
        run.preview.reset();
        run.rejection.clear();
    }
    std::move(added.begin(), added.end(), std::back_inserter(result.after.runs));
    return result;
}

NewRuns withReplacedRuns(Comparison now, const std::function<std::string()>& new_id) {
    NewRuns result{std::move(now), {}};
    for (LabRun& run : result.after.runs) {
        if (!run.needsNewRun()) continue;
        LabRun fresh = freshRun(run, new_id());
        fresh.given_name = run.given_name;
        result.fresh.push_back(fresh.id);
        run = std::move(fresh);
    }
    return result;
}

std::string nameOf(const Comparison& now, Recipe recipe) {
    const auto shared = [&](auto value) {
        return now.runs.size() > 1 && std::all_of(now.runs.begin(), now.runs.end(), [&](const LabRun& run) {
                   return value(run.recipe.stack) == value(recipe.stack);
               });
    };
    // It would only make every label longer.
    if (shared([](const StackSpec& s) { return s.residual_step; })) recipe.stack.residual_step = 1;
    if (shared([](const StackSpec& s) { return s.temperature; })) recipe.stack.temperature = 1;
    if (shared([](const StackSpec& s) { return s.gpas.enabled; })) recipe.stack.gpas.enabled = false;
    return default_run_name(recipe);
}

void nameUntrained(Comparison& now) {
    std::set<std::string> taken;
    std::map<std::string, std::uint64_t> seed_of;  // by name, of the first run that has it
    for (const LabRun& run : now.runs)
        if (run.committed() || run.fixed()) {
            taken.insert(run.data->name);
            seed_of.emplace(run.data->name, run.live.train.seed);
        }
    for (LabRun& run : now.runs) {
        if (run.committed() || run.fixed()) continue;
        const std::string base = !run.given_name.empty() ? run.given_name
                                 : run.weights           ? run.weights->name
                                                         : nameOf(now, run.recipe);
        std::string name = base;
        // Other seeds of one recipe have theirs in the name.
        const auto [first, fresh] = seed_of.emplace(base, run.recipe.train.seed);
        if (!fresh && first->second != run.recipe.train.seed)
            name += " · seed " + std::to_string(run.recipe.train.seed);
        const std::string own = name;
        for (int n = 2; !taken.insert(name).second; ++n) name = own + " · " + std::to_string(n);
        if (run.data->name == name) continue;
        run.data = std::make_shared<RunData>(*run.data);  // a ghost or an undo entry may hold the old one
        run.data->name = name;
    }
}

Comparison withName(Comparison now, int index, const std::string& name) {
    LabRun& run = now.runs[static_cast<std::size_t>(index)];
    const auto taken = [&](const std::string& wanted) {
        return std::any_of(now.runs.begin(), now.runs.end(), [&](const LabRun& other) {
            return other.id != run.id && other.data->name == wanted;
        });
    };
    run.given_name = name;
    for (int n = 2; !name.empty() && taken(run.given_name); ++n)
        run.given_name = name + " · " + std::to_string(n);
    showName(run);
    return now;
}

}  // namespace normscope::app
