// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/keys.h"

#include "core/base/error.h"
#include "core/recipe/place_selection.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace normscope {

void KeyVisitor::visit_group(const char* key, const std::function<void()>& inside) {
    const std::string outer = path_;
    path_ += std::string(key) + ".";
    inside();
    path_ = outer;
}

void KeyVisitor::visit_list(const char* key, std::size_t count, const std::function<void(std::size_t)>&,
                            const std::function<void(std::size_t)>& item) {
    if (!into_lists_) return;
    for (std::size_t i = 0; i < count; ++i)
        visit_group((std::string(key) + "." + std::to_string(i)).c_str(), [&] { item(i); });
}

namespace {

FieldValue whole_number(std::int64_t value) {
    if (value < 0) return value;
    return static_cast<std::uint64_t>(value);
}

class ValueLister final : public KeyVisitor {
  public:
    explicit ValueLister(bool into_lists) : KeyVisitor(into_lists) {}
    std::vector<KeyedValue> values;

  private:
    void add(const char* key, FieldValue value) { values.emplace_back(full(key), std::move(value)); }
    void visit_integer(const char* key, int& value, int, int) override { add(key, whole_number(value)); }
    void visit_whole(const char* key, std::uint64_t& value) override { add(key, value); }
    void visit_real(const char* key, double& value, RealRange) override { add(key, value); }
    void visit_reals(const char* key, std::span<double> v, RealRange) override {
        add(key, std::vector<double>(v.begin(), v.end()));
    }
    void visit_flag(const char* key, bool& value) override { add(key, value); }
    void visit_text(const char* key, std::string& value) override {
        if (!value.empty()) add(key, value);
    }
    void visit_optional_flag(const char* key, std::optional<bool>& value) override {
        if (value) add(key, *value);
    }
    void visit_optional_real(const char* key, std::optional<double>& value, RealRange) override {
        if (value) add(key, *value);
    }
    void visit_integer_or_auto(const char* key, int& value, int, int) override {
        if (value == 0)
            add(key, std::string("auto"));
        else
            add(key, whole_number(value));
    }
    void visit_word(const char* key, int& index, std::span<const char* const> allowed) override {
        add(key, std::string(allowed[static_cast<std::size_t>(index)]));
    }
};

class RoleLister final : public KeyVisitor {
  public:
    std::vector<std::pair<std::string, Role>> roles;

  private:
    void add(const char* key) { roles.emplace_back(full(key), role()); }
    void visit_integer(const char* key, int&, int, int) override { add(key); }
    void visit_whole(const char* key, std::uint64_t&) override { add(key); }
    void visit_real(const char* key, double&, RealRange) override { add(key); }
    void visit_reals(const char* key, std::span<double>, RealRange) override { add(key); }
    void visit_flag(const char* key, bool&) override { add(key); }
    void visit_text(const char* key, std::string&) override { add(key); }
    void visit_integer_or_auto(const char* key, int&, int, int) override { add(key); }
    void visit_word(const char* key, int&, std::span<const char* const>) override { add(key); }
};

/// Puts values into the keys that they name.
class KeySetter final : public ValueReader {
  public:
    explicit KeySetter(const std::map<std::string, FieldValue>& values) : values_(values) {}
    std::size_t found() const { return found_; }

  private:
    const FieldValue* value_of(const char* key) override {
        const auto value = values_.find(path_of(key));
        if (value == values_.end()) return nullptr;
        ++found_;
        return &value->second;
    }
    std::string path_of(const char* key) const override { return path_ + key; }
    std::string shown(const char* key) const override { return value_text(values_.at(path_of(key))); }
    void visit_group(const char* key, const std::function<void()>& inside) override {
        const std::string outer = path_;
        path_ += std::string(key) + ".";
        inside();
        path_ = outer;
    }
    void visit_list(const char*, std::size_t, const std::function<void(std::size_t)>&,
                    const std::function<void(std::size_t)>&) override {}

    const std::map<std::string, FieldValue>& values_;
    std::string path_;
    std::size_t found_ = 0;
};

/// Moves the sizes that follow a key.
class Follower final : public KeyVisitor {
  public:
    Follower(std::string moved, std::map<std::string, std::int64_t> before,
             std::map<std::string, std::int64_t> after)
        : moved_(std::move(moved)), before_(std::move(before)), after_(std::move(after)) {}

  private:
    void visit_integer_or_auto(const char* key, int& value, int, int) override {
        const std::string leader = role().follows;
        if (leader.empty()) return;
        if (role().times == 0) {
            if (moved_.rfind(leader + ".", 0) == 0) value = 0;
            return;
        }
        if (moved_ != leader) return;
        const std::int64_t was = before_[full(key)], to = after_[leader];
        if (was == role().times * before_[leader])
            value = static_cast<int>(role().times * to);
        else if (was > 0 && role().times == 1)
            value = static_cast<int>(std::gcd(was, to));
    }
    std::string moved_;
    std::map<std::string, std::int64_t> before_, after_;
};

/// The patterns that still select a place; a text with a problem is unchanged, completing the recipe reports
/// it.
std::string within_depth(const std::string& only, int depth) {
    try {
        return PlaceSelection::parse(only, "only").within(depth).text();
    } catch (const InputError&) {
        return only;
    }
}

std::map<std::string, std::int64_t> sizes(const Recipe& recipe) {
    std::map<std::string, std::int64_t> found;
    for (const auto& [key, value] : key_values(recipe))
        if (const auto* size = std::get_if<std::uint64_t>(&value))
            found[key] = static_cast<std::int64_t>(*size);
    return found;
}

}  // namespace

std::vector<KeyedValue> key_values(const Recipe& recipe, bool into_lists) {
    Recipe copy = recipe;  // Fields visits by reference
    ValueLister lister(into_lists);
    list_fields(lister, copy);
    return std::move(lister.values);
}

const std::vector<std::pair<std::string, Role>>& key_roles() {
    static const auto roles = [] {
        Recipe recipe;
        RoleLister lister;
        list_fields(lister, recipe);
        return lister.roles;
    }();
    return roles;
}

void set_key(Recipe& recipe, const std::string& key, const FieldValue& value) {
    const std::map<std::string, FieldValue> values{{key, value}};
    KeySetter setter(values);
    Recipe changed = recipe;
    list_fields(setter, changed);
    if (setter.found() == 0) throw InputError(key, "unknown key", "the keys of a recipe");
    Follower follower(key, sizes(recipe), sizes(changed));
    list_fields(follower, changed);
    std::erase_if(changed.stack.layers,
                  [&](const LayerOverride& o) { return o.index >= changed.stack.depth; });
    if (changed.stack.depth < recipe.stack.depth)
        for (ProbePlan& probe : changed.probes) probe.only = within_depth(probe.only, changed.stack.depth);
    recipe = std::move(changed);
}

Recipe with_key_of(const Recipe& to, const Recipe& from, const std::string& key) {
    Recipe result = to;
    if (key == "stack.layers") {
        result.stack.layers = from.stack.layers;
        return result;
    }
    if (key == "probes") {
        result.probes = from.probes;
        return result;
    }
    if (key == "watch") {
        result.watch = from.watch;
        return result;
    }
    const auto& roles = key_roles();
    if (std::none_of(roles.begin(), roles.end(), [&](const auto& known) { return known.first == key; }))
        throw InputError(key, "unknown key", "the keys of a recipe");
    std::map<std::string, FieldValue> values;
    for (auto& [name, value] : key_values(to))
        if (name != key) values.emplace(name, std::move(value));
    for (auto& [name, value] : key_values(from))
        if (name == key) values.emplace(name, std::move(value));
    // All keys at once: values in the recipe override a block's defaults.
    result = {};
    KeySetter setter(values);
    list_fields(setter, result);
    result.stack.layers = to.stack.layers;
    result.probes = to.probes;
    result.watch = to.watch;
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
