// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"

#include <variant>
#include <vector>

namespace normscope {

/// The value of one key as plain data; empty: of a form that no key has. Words and "auto" are texts.
using FieldValue =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>>;

/// Sets given values in a spec, each checked against the key's kind and range. A key without a value is
/// unchanged. Throws InputError with the path of the key and the allowed set.
class ValueReader : public Fields {
  protected:
    /// Null where none is given.
    virtual const FieldValue* value_of(const char* key) = 0;
    virtual std::string path_of(const char* key) const = 0;
    /// The value as its source writes it, for messages.
    virtual std::string shown(const char* key) const = 0;

    void visit_integer(const char* key, int& value, int low, int high) final;
    void visit_whole(const char* key, std::uint64_t& value) final;
    void visit_real(const char* key, double& value, RealRange range) final;
    void visit_reals(const char* key, std::span<double> values, RealRange range) final;
    void visit_flag(const char* key, bool& value) final;
    void visit_text(const char* key, std::string& value) final;
    void visit_optional_flag(const char* key, std::optional<bool>& value) final;
    void visit_optional_real(const char* key, std::optional<double>& value, RealRange range) final;
    void visit_integer_or_auto(const char* key, int& value, int low, int high) final;
    void visit_word(const char* key, int& index, std::span<const char* const> allowed) final;

  private:
    template <class T, class Read>
    void optional(const char* key, std::optional<T>& value, Read&& read);
};

}  // namespace normscope
