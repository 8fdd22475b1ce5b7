// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

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

/// The effect of a change of a key on a run, and the key that it follows. Defined where the key is listed,
/// and used by the knobs, the events, undo, checkpoints and the command line.
struct Role {
    enum class Effect {
        Restarts,  ///< another run: the weights, the batches or the course of the training change
        Hot,       ///< acts on a running run, from its next step on
        Observes,  ///< changes what is recorded of a run, but not its results
    };
    Effect effect = Effect::Restarts;
    const char* label = "";    ///< hot: its name in events
    const char* follows = "";  ///< the key, or the group, that this one follows
    /// A size that was `times` the followed one remains so; else it remains a divisor where it was. 0: reset
    /// to auto.
    int times = 0;
};
inline constexpr Role hot(const char* label) {
    return {Role::Effect::Hot, label, "", 0};
}
inline constexpr Role observes() {
    return {Role::Effect::Observes, "", "", 0};
}
inline constexpr Role follows(const char* key, int times = 0) {
    return {Role::Effect::Restarts, "", key, times};
}

/// A visitor over the keys of a specification. Each spec has one `list_fields` that names every key once, with its
/// range and its role; reading, writing, checking and comparing recipes are visitors, so all of them cover
/// the same keys.
class Fields {
  public:
    virtual ~Fields() = default;
    void integer(const char* key, int& value, int low, int high, Role role = {}) {
        role_ = role;
        visit_integer(key, value, low, high);
    }
    void whole(const char* key, std::uint64_t& value, Role role = {}) {
        role_ = role;
        visit_whole(key, value);
    }
    void real(const char* key, double& value, RealRange range, Role role = {}) {
        role_ = role;
        visit_real(key, value, range);
    }
    void reals(const char* key, std::span<double> values, RealRange range, Role role = {}) {
        role_ = role;
        visit_reals(key, values, range);
    }
    void flag(const char* key, bool& value, Role role = {}) {
        role_ = role;
        visit_flag(key, value);
    }
    void text(const char* key, std::string& value, Role role = {}) {
        role_ = role;
        visit_text(key, value);
    }
    void optional_flag(const char* key, std::optional<bool>& value, Role role = {}) {
        role_ = role;
        visit_optional_flag(key, value);
    }
    void optional_real(const char* key, std::optional<double>& value, RealRange range, Role role = {}) {
        role_ = role;
        visit_optional_real(key, value, range);
    }
    /// "auto" or a whole number; 0 means auto.
    void integer_or_auto(const char* key, int& value, int low, int high, Role role = {}) {
        role_ = role;
        visit_integer_or_auto(key, value, low, high);
    }
    template <class Enum>
    void choice(const char* key, Enum& value, Role role = {}) {
        role_ = role;
        int index = static_cast<int>(value);
        visit_word(key, index, words_of<Enum>());
        value = static_cast<Enum>(index);
    }
    void group(const char* key, const std::function<void()>& inside) { visit_group(key, inside); }
    /// A list of objects: `resize(count)` before reading, `item(i)` lists the fields of one.
    void list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
              const std::function<void(std::size_t)>& item) {
        visit_list(key, count, resize, item);
    }

  protected:
    /// Of the key that is visited.
    const Role& role() const { return role_; }

    virtual void visit_integer(const char* key, int& value, int low, int high) = 0;
    virtual void visit_whole(const char* key, std::uint64_t& value) = 0;
    virtual void visit_real(const char* key, double& value, RealRange range) = 0;
    virtual void visit_reals(const char* key, std::span<double> values, RealRange range) = 0;
    virtual void visit_flag(const char* key, bool& value) = 0;
    virtual void visit_text(const char* key, std::string& value) = 0;
    virtual void visit_optional_flag(const char* key, std::optional<bool>& value) = 0;
    virtual void visit_optional_real(const char* key, std::optional<double>& value, RealRange range) = 0;
    virtual void visit_integer_or_auto(const char* key, int& value, int low, int high) = 0;
    virtual void visit_word(const char* key, int& index, std::span<const char* const> allowed) = 0;
    virtual void visit_group(const char* key, const std::function<void()>& inside) = 0;
    virtual void visit_list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
                            const std::function<void(std::size_t)>& item) = 0;

  private:
    Role role_;
};

}  // namespace normscope
