// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/stack/value_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// A visitor that tracks the dotted path of the current group and ignores all keys; derived classes override
/// the kinds they need. Entries of lists are visited as "stack.layers.0.attn.in" where `into_lists`.
class KeyVisitor : public Fields {
  protected:
    explicit KeyVisitor(bool into_lists = false) : into_lists_(into_lists) {}
    std::string full(const char* key) const { return path_ + key; }

    void visit_integer(const char*, int&, int, int) override {}
    void visit_whole(const char*, std::uint64_t&) override {}
    void visit_real(const char*, double&, RealRange) override {}
    void visit_reals(const char*, std::span<double>, RealRange) override {}
    void visit_flag(const char*, bool&) override {}
    void visit_text(const char*, std::string&) override {}
    void visit_optional_flag(const char*, std::optional<bool>&) override {}
    void visit_optional_real(const char*, std::optional<double>&, RealRange) override {}
    void visit_integer_or_auto(const char*, int&, int, int) override {}
    void visit_word(const char*, int&, std::span<const char* const>) override {}
    void visit_group(const char* key, const std::function<void()>& inside) override;
    void visit_list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
                    const std::function<void(std::size_t)>& item) override;

  private:
    std::string path_;
    bool into_lists_;
};

/// A key with its value; words, texts and "auto" are strings.
using KeyedValue = std::pair<std::string, FieldValue>;

/// The keys of a recipe by their dotted path, in the order of the listing. A text that is empty and an
/// override that is not given are not there.
std::vector<KeyedValue> key_values(const Recipe& recipe, bool into_lists = false);

/// The roles of all keys outside lists, in the order of the listing.
const std::vector<std::pair<std::string, Role>>& key_roles();

/// Sets one key outside lists, and the keys that follow it (Role::follows; overrides of removed layers are
/// dropped, as are patterns of a probe's `only` that select none of the rest). Setting stack.block sets the
/// block's defaults. InputError with path and allowed set for an unknown key or a value out of range leaves
/// the recipe unchanged. Whether keys are consistent is checked when the recipe is completed.
void set_key(Recipe& recipe, const std::string& key, const FieldValue& value);

/// `to` with the one key (a list as a whole) of `from`. No other key changes. InputError for an unknown key.
Recipe with_key_of(const Recipe& to, const Recipe& from, const std::string& key);

/// As a recipe's file writes it, for messages.
std::string value_text(const FieldValue& value);

}  // namespace normscope
