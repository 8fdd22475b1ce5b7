// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/number_partition.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace normscope {
namespace {

constexpr std::size_t quick_tail = 16;  // 2 tables of 256 sums: a few microseconds, exact for short rows
constexpr std::size_t search_tail =
    20;  // 2 tables of 1024 sums, built once and used by every leaf of the search
constexpr std::size_t leaf_work = 40;  // what a leaf costs, in nodes
constexpr std::size_t windows_per_node = 4;

}  // namespace

NumberPartition::Result NumberPartition::split(std::span<const double> values, double good_enough,
                                               std::size_t work_limit) {
    const std::size_t size = values.size();
    good_enough_ = good_enough;
    best_ = std::numeric_limits<double>::infinity();
    sign_.resize(size);
    best_sign_.resize(size);

    order_roughly(values);
    const std::size_t tail = std::min(size, quick_tail);
    const double head = assign_greedily(0, size - tail, 0.0);
    const double all = assign_greedily(size - tail, size, head);
    propose(std::abs(all), size, [](std::size_t) { return false; });
    if (best_ <= good_enough_) return {best_, 0.0};

    tabulate_tail(tail);
    balance_with_tail(size - tail, head);
    if (best_ <= good_enough_) return {best_, 0.0};
    if (size == tail) return {best_, best_};

    sort_entries();
    const bool complete = search(work_limit);
    return {best_, complete ? best_ : 0.0};
}

/// Counting sort by the leading bits (eight classes per octave down to 2^-32): linear time, and enough for
/// the greedy pass, whose final difference is about the size of the last entries.
void NumberPartition::order_roughly(std::span<const double> values) {
    constexpr int classes = 256, shift = 49;
    constexpr auto one = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(1.0) >> shift);
    const auto class_of = [](double value) {
        const auto key = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) >> shift);
        return static_cast<std::size_t>(std::clamp<std::int64_t>(one - key, 0, classes - 1));
    };
    std::array<std::uint32_t, classes + 1> start{};
    for (const double value : values) ++start[class_of(value) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    value_.resize(values.size());
    index_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t position = start[class_of(values[i])]++;
        value_[position] = values[i];
        index_[position] = static_cast<std::uint32_t>(i);
    }
}

void NumberPartition::sort_entries() {
    entries_.resize(value_.size());
    for (std::size_t k = 0; k < entries_.size(); ++k) entries_[k] = {value_[k], index_[k]};
    std::sort(entries_.begin(), entries_.end(), std::greater<>());
    for (std::size_t k = 0; k < entries_.size(); ++k) std::tie(value_[k], index_[k]) = entries_[k];
}

/// Puts each entry on the lighter side; returns the signed difference.
double NumberPartition::assign_greedily(std::size_t first, std::size_t last, double difference) {
    for (std::size_t k = first; k < last; ++k) {
        const bool plus = difference <= 0;
        sign_[k] = plus ? 1 : -1;
        difference += plus ? value_[k] : -value_[k];
    }
    return difference;
}

/// Keeps a split if it is the best: the path decides the first `depth` entries, the predicate the others.
template <class OnPlusSide>
void NumberPartition::propose(double difference, std::size_t depth, OnPlusSide on_plus_side) {
    if (difference >= best_) return;
    best_ = difference;
    for (std::size_t k = 0; k < depth; ++k) best_sign_[index_[k]] = sign_[k];
    for (std::size_t k = depth; k < value_.size(); ++k) best_sign_[index_[k]] = on_plus_side(k) ? 1 : -1;
}

/// All signed sums of the last `tail` entries as left + right, both ascending; entries alternate between the
/// halves.
void NumberPartition::tabulate_tail(std::size_t tail) {
    left_.assign(1, {0.0, 0});
    right_.assign(1, {0.0, 0});
    const std::size_t first = value_.size() - tail;
    for (std::size_t k = 0; k < tail; ++k)
        add_to_table(k % 2 == 0 ? left_ : right_, value_[first + k], std::uint32_t{1} << (k / 2));
}

void NumberPartition::add_to_table(std::vector<SignedSum>& table, double value, std::uint32_t bit) {
    const std::size_t size = table.size();
    spare_.resize(2 * size);
    std::size_t minus = 0;
    std::size_t plus = 0;
    for (SignedSum& merged : spare_) {
        const bool take_minus =
            minus < size && (plus == size || table[minus].sum - value <= table[plus].sum + value);
        if (take_minus) {
            merged = {table[minus].sum - value, table[minus].plus};
            ++minus;
        } else {
            merged = {table[plus].sum + value, table[plus].plus | bit};
            ++plus;
        }
    }
    table.swap(spare_);
}

/// Meet in the middle: the exact best completion of a path that leaves exactly the tabulated tail open.
void NumberPartition::balance_with_tail(std::size_t depth, double difference) {
    double closest = std::numeric_limits<double>::infinity();
    std::size_t best_i = 0;
    std::size_t best_j = 0;
    for (std::size_t i = 0, j = right_.size(); i < left_.size() && j > 0 && closest > good_enough_;) {
        const double sum = difference + left_[i].sum + right_[j - 1].sum;
        if (std::abs(sum) < closest) {
            closest = std::abs(sum);
            best_i = i;
            best_j = j - 1;
        }
        if (sum > 0)
            --j;
        else
            ++i;
    }
    propose(closest, depth, [&, first = value_.size() - depth](std::size_t k) {
        const std::size_t entry = k - (value_.size() - first);
        const std::uint32_t plus = entry % 2 == 0 ? left_[best_i].plus : right_[best_j].plus;
        return (plus >> (entry / 2) & 1) != 0;
    });
}

/// Tries to settle everything below a node by counting: `count` of the entries from `depth` to `end` sum to
/// between the count smallest and the count largest, and whatever lies beyond `end` adds anything from
/// nothing to its whole mass. Returns true when no choice brackets the sum that the plus side still needs:
/// then one of two extreme choices is the optimum below this node. Otherwise `count` is the smallest that may
/// reach it.
NumberPartition::Bracket NumberPartition::close_by_count(std::size_t depth, std::size_t end,
                                                         double difference) {
    const std::size_t size = value_.size();
    const double wanted = (prefix_[size] - prefix_[depth] - difference) / 2;
    const double slack = prefix_[size] - prefix_[end];
    const auto first = prefix_.begin() + static_cast<std::ptrdiff_t>(depth);
    const auto reaching = std::lower_bound(first, prefix_.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                                           prefix_[depth] + wanted - slack);
    const auto count = static_cast<std::size_t>(reaching - first);
    const bool enough = count <= end - depth;
    const double smallest = enough ? prefix_[end] - prefix_[end - count] : 0;
    if (enough && smallest < wanted) return {false, count, wanted};

    if (enough)
        propose(std::abs(2 * (smallest - wanted)), depth,
                [&](std::size_t k) { return k >= end - count && k < end; });
    if (count > 0) {
        const double largest = prefix_[depth + count - 1] - prefix_[depth];
        propose(std::abs(2 * (wanted - slack - largest)), depth,
                [&](std::size_t k) { return k < depth + count - 1 || k >= end; });
    }
    return {true, count, wanted};
}

/// True when nothing below the node needs a search. Otherwise records good splits of it.
bool NumberPartition::close_node(std::size_t depth, double difference) {
    const std::size_t size = value_.size();
    const Bracket bracket = close_by_count(depth, size, difference);
    if (bracket.closed || (depth < cut_ && cut_ < size && close_by_count(depth, cut_, difference).closed))
        return true;
    const std::size_t last = std::min(bracket.count + windows_per_node, size - depth + 1);
    for (std::size_t count = std::max<std::size_t>(bracket.count, 1); count < last; ++count) {
        if (prefix_[size] - prefix_[size - count] >= bracket.wanted) break;
        shift_window(depth, count, bracket.wanted);
    }
    return false;
}

/// A good choice of `count` open entries in O(log n): start from the smallest ones and move them, the largest
/// first, to the top; the sum rises in steps of neighbouring entries' gaps, so the crossing of `wanted` is
/// near.
void NumberPartition::shift_window(std::size_t depth, std::size_t count, double wanted) {
    const std::size_t size = value_.size();
    const auto sum_with = [&](std::size_t moved) {  // the `moved` largest and the count − moved smallest
        return prefix_[depth + moved] - prefix_[depth] + prefix_[size] - prefix_[size - (count - moved)];
    };
    std::size_t low = 0;
    std::size_t high = count;
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (sum_with(middle) <= wanted ? low : high) = middle;
    }
    const std::size_t moving =
        size - (count - low);  // the next entry to move; free places: [depth + low, moving)
    const double missing = wanted - sum_with(low);
    const auto begin = value_.begin();
    const auto first = begin + static_cast<std::ptrdiff_t>(depth + low);
    const auto last = begin + static_cast<std::ptrdiff_t>(moving + 1);
    auto place = std::lower_bound(first, last, value_[moving] + missing, std::greater<>());
    if (place == last) --place;
    for (int neighbour = 0; neighbour < 2; ++neighbour) {
        const auto position = static_cast<std::size_t>(place - begin);
        propose(2 * std::abs(missing - (value_[position] - value_[moving])), depth,
                [&](std::size_t k) { return k < depth + low || k > moving || k == position; });
        if (place == first) break;
        --place;
    }
}

/// The index where the last entry before exceeds the mass of all entries after it the most: a few nearly
/// equal entries with a light tail are settled by counting the few and taking the tail as slack. `size` where
/// no tail is light.
std::size_t NumberPartition::heaviest_step() const {
    const std::size_t size = value_.size();
    std::size_t cut = size;
    double steepest = 1;
    double mass = 0;
    for (std::size_t k = size - 1; k > 0; --k) {
        mass += value_[k];
        if (value_[k - 1] <= steepest * mass) continue;
        steepest = value_[k - 1] / mass;
        cut = k;
    }
    return cut;
}

/// Depth first over the entries in descending order, lighter side first. Of equal entries those on the plus
/// side come first, and the first entry is plus: every split is seen once. Returns true when the whole tree
/// was searched.
bool NumberPartition::search(std::size_t work_limit) {
    const std::size_t size = value_.size();
    const std::size_t tail = std::min(size, search_tail);
    prefix_.resize(size + 1);
    prefix_[0] = 0;
    std::partial_sum(value_.begin(), value_.end(), prefix_.begin() + 1);
    cut_ = heaviest_step();
    difference_.resize(size + 1);
    difference_[0] = 0;
    settled_.resize(size);

    std::size_t depth = 0;
    bool tabulated = false;  // many searches never need a leaf
    const auto place = [&](std::int8_t sign) {
        sign_[depth] = sign;
        difference_[depth + 1] = difference_[depth] + sign * value_[depth];
        ++depth;
    };
    for (std::size_t work = 0; work < work_limit; ++work) {
        bool closed = close_node(depth, difference_[depth]);
        if (!closed && depth == size - tail && best_ > good_enough_) {
            if (!tabulated) tabulate_tail(tail);
            tabulated = true;
            balance_with_tail(depth, difference_[depth]);
            work += leaf_work;
            closed = true;
        }
        if (best_ <= good_enough_) return false;
        if (!closed) {
            const bool twin_is_minus =
                depth > 0 && value_[depth] == value_[depth - 1] && sign_[depth - 1] < 0;
            settled_[depth] = depth == 0 || twin_is_minus;
            place(difference_[depth] > 0 || twin_is_minus ? -1 : 1);
            continue;
        }
        while (depth > 0 && settled_[depth - 1]) --depth;
        if (depth == 0) return true;
        --depth;
        settled_[depth] = 1;
        place(static_cast<std::int8_t>(-sign_[depth]));
    }
    return false;
}

}  // namespace normscope
