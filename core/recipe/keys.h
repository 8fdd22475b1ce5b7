// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace normscope {

/// One key of a recipe: its name, what it may hold, its role, and where a recipe has its value. There is one
/// object of each key, in the table recipe_keys(): code that handles a key passes it by reference or pointer.
struct RecipeKey {
    std::string name;  ///< "stack.residual_step"
    FieldType type;
    Role role;
    const char* help;                     ///< key_help.h
    std::ptrdiff_t place;                 ///< bytes from the start of a Recipe, or of an entry of the list
    std::vector<RecipeKey> entries = {};  ///< of a list: the keys of one entry, "stack.layers.attn.in"

    bool is_list() const { return type.kind == FieldType::Kind::List; }
    /// Whether it acts on a run in training; role.knob is its value there.
    bool is_hot() const { return role.knob != nullptr; }
    /// "residual_step"
    std::string last_part() const { return name.substr(name.rfind('.') + 1); }

    /// "auto" and words are texts. Empty for a list.
    FieldValue get(const Recipe& recipe) const { return type.get(at(recipe)); }
    /// Sets the key and those that follow it (Role::follows; overrides of removed layers are dropped, as are
    /// patterns of a probe's `only` that select none of the rest). Setting stack.block sets the block's
    /// defaults; data.source and stack.input set each other where one is of text and the other of images.
    /// InputError with the name and the allowed set for a value out of range, or a list, leaves the recipe
    /// unchanged. Whether keys are consistent is checked when the recipe is completed.
    void set(Recipe& recipe, const FieldValue& value) const;
    /// Whether two recipes have the same value, or an equal list.
    bool same(const Recipe& a, const Recipe& b) const;
    /// The value, or list, of another recipe. No key follows.
    void copy(Recipe& to, const Recipe& from) const;

    /// Where the value is, of the type that the key was listed with.
    const void* at(const Recipe& recipe) const { return reinterpret_cast<const std::byte*>(&recipe) + place; }
    void* at(Recipe& recipe) const { return reinterpret_cast<std::byte*>(&recipe) + place; }
};

/// Every key once, a list as a whole, in the order in which recipes write them.
std::span<const RecipeKey> recipe_keys();

/// Null where there is none of this name.
const RecipeKey* find_key(std::string_view name);
/// Throws InputError where there is none of this name.
const RecipeKey& recipe_key(std::string_view name);

/// A key of the table, as a value that is passed on.
class KeyRef {
  public:
    KeyRef(const RecipeKey& key) : key_(&key) {}
    /// Of a literal; throws as recipe_key() does.
    KeyRef(const char* name) : key_(&recipe_key(name)) {}
    const RecipeKey& operator*() const { return *key_; }
    const RecipeKey* operator->() const { return key_; }
    bool operator==(const KeyRef&) const = default;

  private:
    const RecipeKey* key_;
};

/// A key's name with its value.
using KeyedValue = std::pair<std::string, FieldValue>;

/// The values of a recipe in the order of its keys; those of a list's entries as "stack.layers.0.attn.in". A
/// text that is empty and an override that is not given are not there.
std::vector<KeyedValue> key_values(const Recipe& recipe);

/// `to` with the one key (a list as a whole) of `from`. No other key changes.
Recipe with_key_of(const Recipe& to, const Recipe& from, KeyRef key);

/// As a recipe's file writes it, for messages.
std::string value_text(const FieldValue& value);

}  // namespace normscope
