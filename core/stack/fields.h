// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace normscope {

/// The words of an enum, in the order of its values. Specialised next to each enum of a recipe.
template <class Enum>
std::span<const char* const> words_of();

/// The word of one value.
template <class Enum>
const char* word_of(Enum value) {
    return words_of<Enum>()[static_cast<std::size_t>(value)];
}

/// An interval of allowed values, ends included unless stated otherwise.
struct RealRange {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    bool low_open = false;  ///< the lower end itself is not allowed
    bool contains(double v) const { return (low_open ? v > low : v >= low) && v <= high; }
    std::string text() const;
};

/// The value of one key as plain data; empty: absent, or of a form that no key has. Words and "auto" are
/// texts.
using FieldValue =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>>;

/// Of a number; nullopt of any other value.
std::optional<double> number_of(const FieldValue& value);

/// Whether recipes leave it out: nothing, or an empty text.
bool is_absent(const FieldValue& value);

/// Why a key cannot have a value.
struct Rejection {
    std::string reason;   ///< after the value: " is out of range"
    std::string allowed;  ///< the allowed set
};

/// A vector whose entries are of a type that its user does not know.
struct ListAccess {
    std::size_t (*size)(const void* list);
    const void* (*entry)(const void* list, std::size_t i);
    void (*reset)(void* list, std::size_t count);  ///< to that many default entries
    void (*copy)(void* to, const void* from);
    bool (*equal)(const void* a, const void* b);
};

/// What a key may hold, and how it is read and written where it lies in a specification.
struct FieldType {
    enum class Kind { Integer, Whole, Real, Reals, Flag, Text, Word, List };
    Kind kind = Kind::Real;
    RealRange range{};       ///< Integer, Real, Reals
    bool automatic = false;  ///< Integer: 0 is "auto"
    bool optional = false;   ///< Flag, Real: a std::optional, which may be absent
    std::size_t count = 0;   ///< Reals
    std::span<const char* const> words{};
    int (*word)(const void* at) = nullptr;
    void (*choose)(void* at, int word) = nullptr;
    const ListAccess* list = nullptr;

    bool is_integer() const { return kind == Kind::Integer || kind == Kind::Whole; }
    bool is_number() const { return is_integer() || kind == Kind::Real; }
    /// The value at this place; empty for a list and for what is absent. Whole numbers from 0 are
    /// std::uint64_t.
    FieldValue get(const void* at) const;
    /// Changes nothing where it returns why not.
    std::optional<Rejection> set(void* at, const FieldValue& value) const;
};

/// The values of the hot keys. ε, Δt, τ move the forward map, the others the optimizer.
struct HotKnobs {
    double residual_step, temperature, eps, lr, weight_decay, clip;
    bool operator==(const HotKnobs&) const = default;
};

using HotKnob = double HotKnobs::*;

/// The effect of a change of a key on a run, and the key that it follows. Defined where the key is listed,
/// and used by the knobs, the events, undo, checkpoints and the command line.
struct Role {
    enum class Effect {
        Restarts,  ///< another run: the weights, the batches or the course of the training change
        Hot,       ///< acts on a running run, from its next step on
        Observes,  ///< changes what is recorded of a run, but not its results
    };
    Effect effect = Effect::Restarts;
    const char* label = "";    ///< hot number: its name in events
    HotKnob knob = nullptr;    ///< hot number: its value in a run
    const char* follows = "";  ///< the key, or the group, that this one follows
    /// A size that was `times` the followed one remains so; else it remains a divisor where it was. 0: reset
    /// to auto.
    int times = 0;
};
inline constexpr Role hot(const char* label, HotKnob knob) {
    return {Role::Effect::Hot, label, knob, "", 0};
}
/// Of a list that acts on a running run, and of the keys of its entries.
inline constexpr Role hot_list() {
    return {Role::Effect::Hot, "", nullptr, "", 0};
}
inline constexpr Role observes() {
    return {Role::Effect::Observes, "", nullptr, "", 0};
}
inline constexpr Role follows(const char* key, int times = 0) {
    return {Role::Effect::Restarts, "", nullptr, key, times};
}

/// A visitor over the keys of a specification. Each spec has one `list_fields` that names every key once,
/// with its range and its role. There are three: JsonReader, JsonWriter (json_fields.h), and the one that
/// builds the table of a recipe's keys (core/recipe/keys.h), which all other code uses.
class Fields {
  public:
    virtual ~Fields() = default;
    void integer(const char* key, int& value, int low, int high, Role role = {}) {
        visit(key, &value, {.kind = Kind::Integer, .range = whole_range(low, high)}, role);
    }
    /// "auto" or a whole number; 0 means auto.
    void integer_or_auto(const char* key, int& value, int low, int high, Role role = {}) {
        visit(key, &value, {.kind = Kind::Integer, .range = whole_range(low, high), .automatic = true}, role);
    }
    void whole(const char* key, std::uint64_t& value, Role role = {}) {
        visit(key, &value, {.kind = Kind::Whole}, role);
    }
    void real(const char* key, double& value, RealRange range, Role role = {}) {
        visit(key, &value, {.kind = Kind::Real, .range = range}, role);
    }
    void reals(const char* key, std::span<double> values, RealRange range, Role role = {}) {
        visit(key, values.data(), {.kind = Kind::Reals, .range = range, .count = values.size()}, role);
    }
    void flag(const char* key, bool& value, Role role = {}) {
        visit(key, &value, {.kind = Kind::Flag}, role);
    }
    void text(const char* key, std::string& value, Role role = {}) {
        visit(key, &value, {.kind = Kind::Text}, role);
    }
    void optional_flag(const char* key, std::optional<bool>& value, Role role = {}) {
        visit(key, &value, {.kind = Kind::Flag, .optional = true}, role);
    }
    void optional_real(const char* key, std::optional<double>& value, RealRange range, Role role = {}) {
        visit(key, &value, {.kind = Kind::Real, .range = range, .optional = true}, role);
    }
    template <class Enum>
    void choice(const char* key, Enum& value, Role role = {}) {
        choice<Enum>(
            key, value, [](const Enum& at) { return at; }, [](Enum& at, Enum chosen) { at = chosen; }, role);
    }
    /// A choice that does more than to set one member: `at` is what holds it. `word` and `choose` capture
    /// nothing.
    template <class Enum, class At, class Word, class Choose>
    void choice(const char* key, At& at, Word, Choose, Role role = {}) {
        visit(
            key, &at,
            {.kind = Kind::Word,
             .words = words_of<Enum>(),
             .word = [](const void* from) { return static_cast<int>(Word{}(*static_cast<const At*>(from))); },
             .choose = [](void* to, int word) { Choose{}(*static_cast<At*>(to), static_cast<Enum>(word)); }},
            role);
    }
    void group(const char* key, const std::function<void()>& inside) { visit_group(key, inside); }
    /// A list of objects: `item(entry)` lists the fields of one.
    template <class Entry, class Item>
    void list(const char* key, std::vector<Entry>& entries, Item&& item, Role role = {}) {
        using List = std::vector<Entry>;
        static constexpr ListAccess kAccess{
            [](const void* list) { return static_cast<const List*>(list)->size(); },
            [](const void* list, std::size_t i) -> const void* {
                return &(*static_cast<const List*>(list))[i];
            },
            [](void* list, std::size_t count) { static_cast<List*>(list)->assign(count, {}); },
            [](void* to, const void* from) { *static_cast<List*>(to) = *static_cast<const List*>(from); },
            [](const void* a, const void* b) {
                return *static_cast<const List*>(a) == *static_cast<const List*>(b);
            }};
        visit_list(key, &entries, {.kind = Kind::List, .list = &kAccess}, role,
                   [&](std::size_t i) { item(entries[i]); });
    }

  protected:
    using Kind = FieldType::Kind;
    virtual void visit(const char* key, void* at, const FieldType& type, const Role& role) = 0;
    virtual void visit_group(const char* key, const std::function<void()>& inside) = 0;
    virtual void visit_list(const char* key, void* list, const FieldType& type, const Role& role,
                            const std::function<void(std::size_t)>& item) = 0;

  private:
    static RealRange whole_range(int low, int high) {
        return {static_cast<double>(low), static_cast<double>(high)};
    }
};

}  // namespace normscope
