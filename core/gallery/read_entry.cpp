// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "core/base/json_object.h"
#include "core/gallery/gallery.h"
#include "core/probe/registry.h"
#include "core/recipe/keys.h"
#include "core/recipe/recipe_text.h"
#include "core/run/experiment.h"
#include "core/sweep/sweep_choice.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>

namespace normscope {

using nlohmann::json;

namespace {

using Effect = GalleryMeasure::Effect;
using Side = GalleryMeasure::Side;

SweepScalar read_scalar(const JsonObject& object) {
    SweepScalar scalar;
    scalar.probe = object.text("probe");
    scalar.array = object.text("array");
    const ProbeInfo* probe = find_probe(scalar.probe);
    if (!probe) {
        std::vector<std::string> ids;
        for (const ProbeInfo& known : probe_registry()) ids.push_back(known.id);
        throw InputError(object.at("probe"), printable(scalar.probe) + " is unknown", joined(ids));
    }
    if (!find_array(*probe, scalar.array)) {
        std::vector<std::string> names;
        for (const ArrayInfo& known : probe->arrays) names.push_back(known.name);
        throw InputError(object.at("array"), printable(scalar.array) + " is unknown", joined(names));
    }
    scalar.over = SweepScalar::over_of(object.text("over"), object.at("over"));
    return scalar;
}

std::int64_t read_count(const JsonObject& object, const char* key) {
    constexpr std::int64_t kMaxCount = 1'000'000;
    const auto count = whole_in_range(object.of(key), 1, kMaxCount);
    if (!count) throw InputError(object.at(key), "is out of range", "1 … " + std::to_string(kMaxCount));
    return *count;
}

GalleryQuantity read_quantity(const json& value, const std::string& at) {
    using Kind = GalleryQuantity::Kind;
    GalleryQuantity quantity;
    if (value == "loss") return quantity;
    if (value == "held_out_loss") {
        quantity.kind = Kind::HeldOutLoss;
        return quantity;
    }
    if (value == "spikes") {
        quantity.kind = Kind::Events;
        quantity.column = "spike";
        return quantity;
    }
    if (value == "one") {
        quantity.kind = Kind::One;
        return quantity;
    }
    const JsonObject object(value, at,
                            {"outcome", "probe", "array", "over", "when", "between", "key", "events", "tail",
                             "steps", "lead", "ahead", "of", "within"});
    if (object.has("key")) {
        quantity.kind = Kind::Key;
        quantity.column = object.text("key");
        const RecipeKey* key = find_key(quantity.column);
        if (!key || !key->type.is_number())
            throw InputError(object.at("key"), printable(quantity.column) + " is no number of a recipe",
                             "such as stack.d_model");
        return quantity;
    }
    if (object.has("events")) {
        quantity.kind = Kind::Events;
        quantity.column = object.text("events");
        return quantity;
    }
    if (object.has("tail")) {
        quantity.kind = Kind::Tail;
        quantity.column = object.text("tail");
        const std::vector<std::string> columns = Experiment::columns({});
        if (std::find(columns.begin(), columns.end(), quantity.column) == columns.end())
            throw InputError(object.at("tail"), printable(quantity.column) + " is unknown", joined(columns));
        quantity.steps = read_count(object, "steps");
        return quantity;
    }
    if (object.has("lead")) {
        quantity.kind = Kind::Lead;
        quantity.lead = static_cast<GalleryQuantity::LeadValue>(
            object.word("lead", {std::begin(kLeadValues), std::end(kLeadValues)}));
        const auto series = [&](const char* key) {
            return read_scalar(JsonObject(object.of(key), object.at(key), {"probe", "array", "over"}));
        };
        quantity.ahead = series("ahead");
        quantity.scalar = series("of");
        quantity.largest_lag = static_cast<std::size_t>(read_count(object, "within"));
        return quantity;
    }
    if (object.has("outcome")) {
        quantity.kind = Kind::Outcome;
        for (const std::string& word : object.texts("outcome"))
            quantity.states.push_back(run_state_from_word(word));
        if (quantity.states.empty()) throw InputError(object.at("outcome"), "has no state", "one at least");
        return quantity;
    }
    quantity.kind = Kind::Probe;
    quantity.scalar = read_scalar(object);
    quantity.when = object.has("when") ? static_cast<GalleryQuantity::When>(object.word(
                                             "when", {"first", "last", "last ÷ first", "early share"}))
                                       : GalleryQuantity::When::Last;
    if (object.has("between")) {
        constexpr std::int64_t kMaxSteps = 1'000'000'000;
        std::vector<std::int64_t> ends;
        for (const json& end : object.list("between"))
            ends.push_back(whole_in_range(end, 0, kMaxSteps).value_or(-1));
        if (ends.size() != 2 || ends[0] < 0 || ends[1] <= ends[0])
            throw InputError(object.at("between"), "is no range of steps", "[FIRST, LAST], FIRST below LAST");
        quantity.from = ends[0];
        quantity.to = ends[1];
    }
    return quantity;
}

/// Values of the grid's keys, over those of `base`; each of them must be in the grid.
GalleryCell read_cell(const JsonObject& object, const char* key, const SweepSpec& sweep, GalleryCell cell) {
    if (object.has(key)) {
        const json& value = object.of(key);
        if (!value.is_object()) throw InputError(object.at(key), "not an object", "{KEY: VALUE}");
        for (const auto& entry : value.items()) {
            if (!entry.value().is_string())
                throw InputError(object.at(key) + "." + printable(entry.key()), "not a text",
                                 "a value of the grid");
            cell[entry.key()] =
                sweep_value_text(entry.value(), object.at(key) + "." + printable(entry.key()));
        }
    }
    for (const auto& [name, value] : cell) {
        if (is_chosen(sweep, name))
            throw InputError(object.at(key) + "." + printable(name), "is chosen by each arm", "not here");
        const auto axis = std::find_if(sweep.grid.begin(), sweep.grid.end(),
                                       [&, &wanted = name](const SweepAxis& a) { return a.key == wanted; });
        if (axis == sweep.grid.end())
            throw InputError(object.at(key) + "." + printable(name), "is no key of the grid", "its keys");
        if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end())
            throw InputError(object.at(key) + "." + printable(name),
                             printable(value) + " is no value of the grid", joined(axis->values));
    }
    for (const SweepAxis& axis : sweep.grid)
        if (!cell.count(axis.key) && !is_chosen(sweep, axis.key))
            throw InputError(object.at(key), "has no value of " + axis.key, joined(axis.values));
    return cell;
}

/// The side of the limit on which the paper has the effect.
void read_limit(const JsonObject& object, GalleryMeasure& measure) {
    measure.side = static_cast<Side>(object.word("is", {">", "<", "≈"}));
    measure.limit = object.has("than") ? object.number("than") : measure.effect == Effect::Ratio ? 1 : 0;
    if (measure.side == Side::Near) {
        measure.tolerance = object.number("within");
        if (!(measure.tolerance > 0) || measure.limit == 0)
            throw InputError(object.at("within"), "is out of range", "above 0, of a limit other than 0");
    } else if (object.has("within")) {
        throw InputError(object.at("within"), "is given", "with ≈");
    }
}

/// What a scatter has in place of quantities and cells.
void read_points(const JsonObject& object, GalleryMeasure& measure) {
    for (const char* key :
         {"quantity", "against_quantity", "of", "against", "batches", "arms", "interest", "unit"})
        if (object.has(key)) throw InputError(object.at(key), "is given", "not with scatter");
    measure.statistic = static_cast<ScatterStatistic>(
        object.word("statistic", {std::begin(kScatterStatistics), std::end(kScatterStatistics)}));
    for (const json& value : object.list("points")) {
        const std::string at = object.at("points") + "." + std::to_string(measure.points.size());
        const JsonObject pair(value, at, {"x", "y", "times"});
        GalleryMeasure::Points points{read_quantity(pair.of("x"), pair.at("x")),
                                      read_quantity(pair.of("y"), pair.at("y"))};
        if (pair.has("times")) points.times = pair.number("times");
        if (!(points.times > 0)) throw InputError(pair.at("times"), "is out of range", "above 0");
        measure.points.push_back(std::move(points));
    }
    if (measure.points.empty()) throw InputError(object.at("points"), "there is none", "at least one");
}

GalleryMeasure read_measure(const json& value, const std::string& at, const SweepSpec& sweep) {
    const JsonObject object(
        value, at,
        {"name", "effect", "quantity", "against_quantity", "of", "against", "is", "than", "within", "paper",
         "unit", "interest", "arms", "batches", "statistic", "points"});
    GalleryMeasure measure;
    measure.name = object.text("name");
    measure.effect = static_cast<Effect>(object.word("effect", {"value", "difference", "ratio", "scatter"}));
    if (measure.effect == Effect::Scatter) {
        read_points(object, measure);
        read_limit(object, measure);
        if (object.has("paper")) measure.paper = object.number("paper");
        return measure;
    }
    for (const char* key : {"statistic", "points"})
        if (object.has(key)) throw InputError(object.at(key), "is given", "with scatter");
    measure.quantity = read_quantity(object.of("quantity"), object.at("quantity"));
    measure.of = read_cell(object, "of", sweep, {});
    if (measure.effect == Effect::Value) {
        for (const char* key : {"against", "against_quantity"})
            if (object.has(key)) throw InputError(object.at(key), "is given", "with difference or ratio");
    } else {
        measure.against = read_cell(object, "against", sweep, measure.of);
        measure.against_quantity =
            object.has("against_quantity")
                ? read_quantity(object.of("against_quantity"), object.at("against_quantity"))
                : measure.quantity;
        if (measure.against == measure.of && measure.against_quantity == measure.quantity)
            throw InputError(object.at("against"), "is the same as `of`", "another cell or quantity");
    }
    if (object.has("batches")) {
        object.word("batches", {"equal"});
        if (measure.effect == Effect::Value)
            throw InputError(object.at("batches"), "is given", "with difference or ratio");
        measure.same_batches = true;
    }
    const bool outcome = measure.quantity.is_share();
    if (outcome && (measure.effect == Effect::Ratio ||
                    (measure.effect == Effect::Difference && measure.against_quantity != measure.quantity)))
        throw InputError(object.at("effect"), "is not possible for an outcome",
                         "value or difference of the same");
    read_limit(object, measure);
    if (measure.effect == Effect::Ratio && !(measure.limit > 0))
        throw InputError(object.at("than"), "is out of range", "above 0 for a ratio");
    using Kind = GalleryQuantity::Kind;
    const auto at_step_0 = [](const GalleryQuantity& q) {
        return q.kind == Kind::Probe && q.when == GalleryQuantity::When::First;
    };
    const bool may_fail = object.has("arms") && object.word("arms", {"learn", "may fail"}) == 1;
    measure.arms_learn = !outcome && !at_step_0(measure.quantity) && !may_fail;
    const bool loss = measure.quantity.kind == Kind::Loss || measure.quantity.kind == Kind::HeldOutLoss ||
                      (measure.quantity.kind == Kind::Tail && measure.quantity.column.ends_with("loss"));
    const bool of_losses = measure.effect == Effect::Difference && loss;
    measure.interest = measure.effect == Effect::Ratio ? 0.1 : of_losses ? 0.01 : 0;
    if (object.has("interest")) measure.interest = object.number("interest");
    if (!(measure.interest >= 0)) throw InputError(object.at("interest"), "is out of range", "0 or above");
    if (object.has("paper")) measure.paper = object.number("paper");
    if (object.has("unit"))
        measure.unit = object.text("unit");
    else if (measure.effect != Effect::Ratio)
        measure.unit = loss ? "nat"
                       : measure.quantity.kind == GalleryQuantity::Kind::Probe &&
                               measure.quantity.when != GalleryQuantity::When::LastOverFirst &&
                               measure.quantity.when != GalleryQuantity::When::EarlyShare
                           ? measure.quantity.scalar.unit()
                           : "";
    return measure;
}

SweepSpec read_sweep_of(const json& value, const std::string& at) {
    const JsonObject object(value, at, {"preset", "set", "grid", "seeds", "tied", "choose"});
    SweepSpec sweep;
    try {
        sweep.recipe = recipe_text(object.text("preset"), object.texts("set"));
        for (const std::string& axis : object.texts("grid")) sweep.grid.push_back(parse_sweep_axis(axis));
        sweep.seeds = parse_seeds(object.text("seeds"));
        for (const std::string& tie : object.texts("tied")) sweep.ties.push_back(parse_sweep_tie(tie));
        if (object.has("choose")) {
            const JsonObject choose(object.of("choose"), object.at("choose"), {"grid", "seeds"});
            for (const std::string& axis : choose.texts("grid")) {
                sweep.grid.push_back(parse_sweep_axis(axis));
                sweep.choice.keys.push_back(sweep.grid.back().key);
            }
            const std::vector<std::uint64_t> seeds = parse_seeds(choose.text("seeds"));
            sweep.choice.seeds = seeds.size();
            sweep.seeds.insert(sweep.seeds.begin(), seeds.begin(), seeds.end());
        }
        expand_sweep(sweep);  // keys that are unknown
    } catch (const InputError& error) {
        const std::string problem = error.what();
        throw InputError(problem.rfind(at, 0) == 0 ? problem : at + ": " + problem);
    }
    return sweep;
}

}  // namespace

GalleryEntry load_gallery_entry(const std::string& path) {
    const std::string id = std::filesystem::path(path).stem().string();
    const bool plain = std::all_of(id.begin(), id.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
    if (id.empty() || !plain)
        throw InputError(printable(path), "its name is also that of a folder",
                         "letters, digits, - and _ before .json");
    if (find_gallery_entry(id))
        throw InputError(printable(path), "an entry of the program has that name", "another name");
    const auto text = text_of_file(path);
    if (!text) throw InputError(printable(path), "cannot be read", "a gallery entry, JSON");
    return read_gallery_entry(id, *text, true);
}

GalleryEntry read_gallery_entry(const std::string& id, const std::string& text, bool own) {
    const std::string where = "gallery entry " + id;
    if (!own && (id.empty() || std::string("engbk").find(id.front()) == std::string::npos))
        throw InputError(where, "its name has no paper", "e, n, g, b or k first");
    const json value = strict_json(text, where);
    const JsonObject object(value, where,
                            {"format", "version", "title", "place", "statement", "sweep", "measures"});
    if (object.text("format") != "normscope-gallery" || object.of("version") != 1)
        throw InputError(where, "not a gallery entry", "format normscope-gallery, version 1");
    GalleryEntry entry{id,
                       object.text("title"),
                       object.text("place"),
                       object.text("statement"),
                       read_sweep_of(object.of("sweep"), object.at("sweep")),
                       {},
                       own};
    const json& measures = object.of("measures");
    if (!measures.is_array() || measures.empty())
        throw InputError(object.at("measures"), "there is none", "at least one");
    for (const json& measure : measures)
        entry.measures.push_back(read_measure(
            measure, object.at("measures") + "." + std::to_string(entry.measures.size()), entry.sweep));
    return entry;
}

}  // namespace normscope
