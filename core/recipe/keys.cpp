// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/keys.h"

#include "core/base/error.h"
#include "core/recipe/key_help.h"
#include "core/recipe/place_selection.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace normscope {

namespace {

/// Builds the table: where each field of one recipe is.
class KeyLister final : public Fields {
  public:
    explicit KeyLister(const Recipe& recipe) : origin_(&recipe) {}
    std::vector<RecipeKey> keys;

  private:
    void visit(const char* key, void* at, const FieldType& type, const Role& role) override {
        const std::string name = path_ + key;
        const auto place = static_cast<const std::byte*>(at) - static_cast<const std::byte*>(origin_);
        into_->push_back({name, type, role, key_help(name), place});
    }
    void visit_group(const char* key, const std::function<void()>& inside) override {
        const std::string outer = path_;
        path_ += std::string(key) + ".";
        inside();
        path_ = outer;
    }
    void visit_list(const char* key, void* list, const FieldType& type, const Role& role,
                    const std::function<void(std::size_t)>& item) override {
        visit(key, list, type, role);
        type.list->reset(list, 1);
        const void* const origin = std::exchange(origin_, type.list->entry(list, 0));
        into_ = &keys.back().entries;
        visit_group(key, [&] { item(0); });
        into_ = &keys;
        origin_ = origin;
    }

    const void* origin_;
    std::vector<RecipeKey>* into_ = &keys;
    std::string path_;
};

/// Of a size; 0 is "auto".
int size_of(const RecipeKey& key, const Recipe& recipe) {
    return *static_cast<const int*>(key.at(recipe));
}

/// Moves the sizes that follow a key.
void follow(const RecipeKey& moved, const Recipe& before, Recipe& after) {
    for (const RecipeKey& key : recipe_keys()) {
        const std::string leader = key.role.follows;
        if (leader.empty()) continue;
        int& size = *static_cast<int*>(key.at(after));
        if (key.role.times == 0) {
            if (moved.name.rfind(leader + ".", 0) == 0) size = 0;
            continue;
        }
        if (moved.name != leader) continue;
        const int was = size_of(key, before), to = size_of(moved, after);
        if (was == key.role.times * size_of(moved, before))
            size = key.role.times * to;
        else if (was > 0 && key.role.times == 1)
            size = std::gcd(was, to);
    }
}

/// The stack's input and the source of the data are of one kind: where one is set, the other follows.
void follow_kind_of_data(const RecipeKey& set, const Recipe& before, Recipe& recipe) {
    StackSpec& stack = recipe.stack;
    DataSource& source = recipe.train.data.source;
    if (set.name == "data.source") {
        stack.input = is_of_images(source) ? StackInput::Patches : StackInput::Tokens;
        if (source != before.train.data.source) {  // of another kind of file
            recipe.train.data.path.clear();
            recipe.train.data.tokenizer.clear();
        }
        if (source == DataSource::Cifar10) {
            stack.image.size = 32;
            stack.image.channels = 3;
        }
    } else if (set.name == "stack.input" && stack.of_images() != is_of_images(source)) {
        source = stack.of_images() ? DataSource::Images : DataSource::Markov;
        stack.vocab = 0;
    }
}

/// The patterns that still select a place; a text with a problem is unchanged, completing the recipe reports
/// it.
std::string within_depth(const std::string& only, int depth) {
    try {
        return PlaceSelection::parse(only, "only").within(depth).text();
    } catch (const InputError&) {
        return only;
    }
}

}  // namespace

std::span<const RecipeKey> recipe_keys() {
    static const std::vector<RecipeKey> keys = [] {
        Recipe recipe;
        KeyLister lister(recipe);
        list_fields(lister, recipe);
        return std::move(lister.keys);
    }();
    return keys;
}

const RecipeKey* find_key(std::string_view name) {
    for (const RecipeKey& key : recipe_keys())
        if (key.name == name) return &key;
    return nullptr;
}

const RecipeKey& recipe_key(std::string_view name) {
    if (const RecipeKey* key = find_key(name)) return *key;
    throw InputError(std::string(name), "unknown key", "the keys of a recipe");
}

void RecipeKey::set(Recipe& recipe, const FieldValue& value) const {
    Recipe changed = recipe;
    if (const auto rejection = type.set(at(changed), value))
        throw InputError(name, value_text(value) + rejection->reason, rejection->allowed);
    follow(*this, recipe, changed);
    follow_kind_of_data(*this, recipe, changed);
    std::erase_if(changed.stack.layers,
                  [&](const LayerOverride& o) { return o.index >= changed.stack.depth; });
    if (changed.stack.depth < recipe.stack.depth)
        for (ProbePlan& probe : changed.probes) probe.only = within_depth(probe.only, changed.stack.depth);
    recipe = std::move(changed);
}

bool RecipeKey::same(const Recipe& a, const Recipe& b) const {
    return is_list() ? type.list->equal(at(a), at(b)) : get(a) == get(b);
}

void RecipeKey::copy(Recipe& to, const Recipe& from) const {
    if (is_list())
        type.list->copy(at(to), at(from));
    else if (const auto rejection = type.set(at(to), get(from)))
        throw InputError(name, value_text(get(from)) + rejection->reason, rejection->allowed);
}

std::vector<KeyedValue> key_values(const Recipe& recipe) {
    std::vector<KeyedValue> values;
    const auto add = [&](std::string name, FieldValue value) {
        if (!is_absent(value)) values.emplace_back(std::move(name), std::move(value));
    };
    for (const RecipeKey& key : recipe_keys()) {
        if (!key.is_list()) {
            add(key.name, key.get(recipe));
            continue;
        }
        const void* const list = key.at(recipe);
        for (std::size_t i = 0; i < key.type.list->size(list); ++i) {
            const auto* entry = static_cast<const std::byte*>(key.type.list->entry(list, i));
            for (const RecipeKey& inside : key.entries)
                add(key.name + "." + std::to_string(i) + inside.name.substr(key.name.size()),
                    inside.type.get(entry + inside.place));
        }
    }
    return values;
}

Recipe with_key_of(const Recipe& to, const Recipe& from, KeyRef key) {
    Recipe result = to;
    // All of them, in their order: values of the recipe replace a block's defaults.
    for (const RecipeKey& each : recipe_keys()) each.copy(result, key == each ? from : to);
    return result;
}

std::string value_text(const FieldValue& value) {
    struct Text {
        std::string operator()(std::monostate) const { return "a value of another form"; }
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(std::uint64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const {
            char text[32];
            const auto end = std::to_chars(text, text + sizeof text, v);
            return {text, end.ptr};
        }
        std::string operator()(const std::string& v) const { return "\"" + v + "\""; }
        std::string operator()(const std::vector<double>& v) const {
            std::string text;
            for (const double number : v) text += (text.empty() ? "" : ",") + (*this)(number);
            return "[" + text + "]";
        }
    };
    return std::visit(Text{}, value);
}

}  // namespace normscope
