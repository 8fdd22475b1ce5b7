// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/step_list.h"

#include "core/base/assert.h"
#include "core/base/error.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace normscope {

namespace {

/// first[:last[:stride]] of whole numbers; false otherwise.
bool read_range(const std::string& text, StepRange& range) {
    std::int64_t numbers[3] = {0, 0, 1};
    int given = 0;
    const char *at = text.data(), *end = at + text.size();
    while (given < 3) {
        const auto [next, error] = std::from_chars(at, end, numbers[given]);
        if (error != std::errc()) return false;
        ++given;
        at = next;
        if (at == end) break;
        if (*at++ != ':') return false;
    }
    if (at != end) return false;
    range = {numbers[0], given > 1 ? numbers[1] : numbers[0], numbers[2]};
    return range.first >= 0 && range.last >= range.first && range.stride >= 1;
}

std::int64_t end_of(const StepRange& r) {
    return r.first + (r.last - r.first) / r.stride * r.stride;
}

}  // namespace

void StepList::add(StepRange range) {
    if (range.last < range.first) return;
    NORMSCOPE_ASSERT(range.first >= 0 && range.stride >= 1, "a range of steps");
    NORMSCOPE_ASSERT(ranges_.empty() || range.first > ranges_.back().last,
                     "ranges are ascending and disjoint");
    range.last = end_of(range);
    if (range.last == range.first) range.stride = 1;
    ranges_.push_back(range);
}

StepList StepList::parse(const std::string& text, const std::string& where) {
    StepList list;
    std::istringstream groups(text);
    for (std::string group; std::getline(groups, group, ',');) {
        StepRange range;
        if (!read_range(group, range))
            throw InputError(where, "\"" + group + "\" is no group of steps",
                             "first, first:last or first:last:stride");
        if (!list.empty() && range.first <= list.ranges_.back().last)
            throw InputError(where, "\"" + group + "\" does not lie above the group before",
                             "ascending groups");
        list.add(range);
    }
    if (list.empty() || text.back() == ',')
        throw InputError(where, "\"" + text + "\" is no list of steps",
                         "groups first:last:stride, separated by commas");
    return list;
}

std::string StepList::text() const {
    std::string text;
    for (const StepRange& r : ranges_) {
        text += (text.empty() ? "" : ",") + std::to_string(r.first);
        if (r.last > r.first) text += ":" + std::to_string(r.last);
        if (r.stride > 1) text += ":" + std::to_string(r.stride);
    }
    return text;
}

bool StepList::contains(std::int64_t step) const {
    return count(step, step) > 0;
}

std::int64_t StepList::count(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (const StepRange& r : ranges_) {
        const std::int64_t low = std::max(from, r.first), high = std::min(to, r.last);
        if (low > high) continue;
        sum += (high - r.first) / r.stride - (low - r.first + r.stride - 1) / r.stride + 1;
    }
    return sum;
}

}  // namespace normscope
