// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace normscope {

/// Decides when a probe runs. `every` = n is obeyed exactly; 0 (auto) runs a probe when the time that probes took so
/// far, with this one's last cost, stays within the budget's share of the training time. Step 0 and the last step are
/// always due; step 1, which shows the cost without a cold start, unless the probe is very dear.
class ProbeScheduler {
  public:
    explicit ProbeScheduler(double budget = 0.05) : budget_(budget) {}

    bool due(const std::string& id, int every, std::int64_t step, std::int64_t last_step) const;
    void spent_training(double seconds) { training_ += seconds; }
    void spent_probe(const std::string& id, double seconds, int every);

    /// Probe time over training time so far.
    double overhead() const { return training_ > 0 ? probes_ / training_ : 0; }

  private:
    double budget_;
    double training_ = 0, probes_ = 0;
    std::map<std::string, double> cost_;    ///< last seconds by id
    std::map<std::string, int> taken_;
};

}  // namespace normscope
