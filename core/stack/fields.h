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

/// A visitor over the keys of a specification. Each spec has one `list_fields` that names every key once,
/// with its range; reading, writing, checking and comparing recipes are visitors, so all of them cover the
/// same keys.
class Fields {
  public:
    virtual ~Fields() = default;
    virtual void integer(const char* key, int& value, int low, int high) = 0;
    virtual void whole(const char* key, std::uint64_t& value) = 0;
    virtual void real(const char* key, double& value, RealRange range) = 0;
    virtual void reals(const char* key, std::span<double> values, RealRange range) = 0;
    virtual void flag(const char* key, bool& value) = 0;
    virtual void text(const char* key, std::string& value) = 0;
    virtual void optional_flag(const char* key, std::optional<bool>& value) = 0;
    virtual void optional_real(const char* key, std::optional<double>& value, RealRange range) = 0;
    /// "auto" or a whole number; 0 means auto.
    virtual void integer_or_auto(const char* key, int& value, int low, int high) = 0;
    virtual void word(const char* key, int& index, std::span<const char* const> allowed) = 0;
    virtual void group(const char* key, const std::function<void()>& inside) = 0;
    /// A list of objects: `resize(count)` before reading, `item(i)` lists the fields of one.
    virtual void list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
                      const std::function<void(std::size_t)>& item) = 0;

    template <class Enum>
    void choice(const char* key, Enum& value) {
        int index = static_cast<int>(value);
        word(key, index, words_of<Enum>());
        value = static_cast<Enum>(index);
    }
};

}  // namespace normscope
