// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// One key of a recipe and the values that a sweep gives it, in order.
struct SweepAxis {
    std::string key;                  ///< dotted path: "optimizer.lr"
    std::vector<std::string> values;  ///< as `--set` takes them, in the form of sweep_value_text()
    bool operator==(const SweepAxis&) const = default;
};

/// The most values of an axis, and the most runs of a sweep.
inline constexpr std::size_t kMaxSweepRuns = 100'000;

/// "KEY=VALUES": a list (`post,pre,peri`; a comma inside brackets or quotes separates nothing),
/// `log:1e-4:1e-1:8` (first, last, count; equal ratios) or `lin:0:1:5` (equal distances). Values between the
/// ends of a range are rounded to six significant digits, so that every machine has the same ones. Throws
/// InputError, naming the text, for an empty list or range, ends of a log range that are not positive, a
/// value that is given twice. Whether the key exists is checked with the recipe (expand_sweep).
SweepAxis parse_sweep_axis(const std::string& text);

/// "42:44": both ends included; "42": one. InputError for anything else, an empty range included.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

/// A value in its one form: a word without quotes; a number that is written in the fewest digits ("0.0003",
/// "4"); other JSON without blanks. InputError, which begins with `where`, for what json_or_word() rejects.
std::string sweep_value_text(const std::string& text, const std::string& where = "value");

/// The fewest digits that give the same double: "3", "0.0003", "1.5e-7"; "nan", "inf", "-inf".
std::string short_number_text(double value);

}  // namespace normscope
