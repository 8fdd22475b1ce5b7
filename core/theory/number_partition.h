// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace normscope {

/// Splits positive numbers into two sides whose sums differ as little as possible (number partitioning), with
/// a proof of how good the split is. Holds its own workspace, so a series of rows costs no allocation; one
/// object per thread.
///
/// Greedy in roughly descending order first, then the smallest entries exactly against that head (meet in the
/// middle), then a complete depth-first search over the sorted entries. A node of that search closes without
/// branching when no number of remaining entries can reach the balance: c of them sum to between the c
/// smallest and the c largest. This one bound settles peaked rows (the tail is too light) as well as uniform
/// ones (the parity does not fit).
class NumberPartition {
  public:
    struct Result {
        double difference = 0;  ///< |sum of one side − sum of the other| of the split found
        double lower = 0;       ///< no split has a smaller one; equals `difference` after a complete search
    };

    /// values: at least one, each in (0, 1], in any order. Stops at a difference <= good_enough, or after
    /// work_limit nodes (a node costs about 0.1 µs); `lower` is then 0. Exact up to rounding, about 2^-53 per
    /// entry.
    Result split(std::span<const double> values, double good_enough, std::size_t work_limit);

    /// +1 or −1 for every value of the last split.
    std::span<const std::int8_t> signs() const { return best_sign_; }

  private:
    struct SignedSum {
        double sum;
        std::uint32_t plus;  ///< bit k: entry k of the tabulated half is on the plus side
    };

    struct Bracket {
        bool closed;        ///< nothing below the node is better than what was proposed
        std::size_t count;  ///< else: the fewest entries that may reach
        double wanted;      ///< this sum on the plus side
    };

    void order_roughly(std::span<const double> values);
    void sort_entries();
    double assign_greedily(std::size_t first, std::size_t last, double difference);
    void tabulate_tail(std::size_t tail);
    void add_to_table(std::vector<SignedSum>& table, double value, std::uint32_t bit);
    void balance_with_tail(std::size_t depth, double difference);
    Bracket close_by_count(std::size_t depth, std::size_t end, double difference);
    bool close_node(std::size_t depth, double difference);
    void shift_window(std::size_t depth, std::size_t count, double wanted);
    std::size_t heaviest_step() const;
    bool search(std::size_t work_limit);
    template <class OnPlusSide>
    void propose(double difference, std::size_t depth, OnPlusSide on_plus_side);

    double good_enough_ = 0;
    double best_ = 0;
    std::vector<double> value_;           ///< descending: roughly at first, exactly during the search
    std::vector<std::uint32_t> index_;    ///< index of value_[k] in the caller's row
    std::vector<std::int8_t> sign_;       ///< the current path, by position in value_
    std::vector<std::int8_t> best_sign_;  ///< the best split, by position in the caller's row
    std::vector<double> prefix_;          ///< prefix_[k] = value_[0] + … + value_[k−1]
    std::vector<double> difference_;      ///< signed difference after the first k entries of the path
    std::vector<char> settled_;           ///< entry k of the path has no other side left to try
    std::size_t cut_ = 0;                 ///< entries from here on weigh little against the last one before
    std::vector<std::pair<double, std::uint32_t>> entries_;
    std::vector<SignedSum> left_, right_, spare_;
};

}  // namespace normscope
