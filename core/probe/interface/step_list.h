// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// first, first + stride, … up to and including last, if reached.
struct StepRange {
    std::int64_t first = 0, last = 0, stride = 1;
    bool operator==(const StepRange&) const = default;
};

/// A set of steps, ascending; stored as ranges.
class StepList {
  public:
    StepList() = default;
    /// Ascending and disjoint.
    explicit StepList(std::vector<StepRange> ranges) : ranges_(std::move(ranges)) {}

    /// The text of a recipe: groups first[:last[:stride]], separated by commas, each above the one before:
    /// "0:49,50:190:20,199". Throws InputError whose message begins with `where`.
    static StepList parse(const std::string& text, const std::string& where);
    std::string text() const;

    /// Adds a step or a range above all existing ones; an empty range adds nothing.
    void add(StepRange range);
    bool contains(std::int64_t step) const;
    /// The number of its steps in from … to.
    std::int64_t count(std::int64_t from, std::int64_t to) const;
    bool empty() const { return ranges_.empty(); }
    const std::vector<StepRange>& ranges() const { return ranges_; }

  private:
    std::vector<StepRange> ranges_;
};

}  // namespace normscope
