// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/remote/messages.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// What was asked of an engine on another machine and is not answered: every request has one last reply, also
/// where the engine ends.
class OpenRequests {
  public:
    /// A run that the engine has started.
    struct Running {
        std::uint64_t training = 0;
        std::int64_t last_step = -1;  ///< of its last row here
    };

    void asked(const ask::Any& message);
    void answered(const reply::Any& message);

    /// The runs that have been started and have not ended, by id.
    const std::map<std::string, Running>& running() const { return running_; }
    /// The file here that a run continues whose start is not answered; empty: a new one.
    std::string recording(std::uint64_t training, const std::string& id) const;

    /// Last replies to all requests, for this reason (one line); runs in training are not affected.
    std::vector<reply::Any> fail(const std::string& line);
    /// The last replies of the engine, which has ended for this reason (one line); none is open then. The
    /// runs in training become interrupted.
    std::vector<reply::Any> end(const std::string& line);

  private:
    void frame(const Frame& frame);

    std::optional<std::uint64_t> exploring_;  ///< the generation
    std::map<std::pair<std::uint64_t, std::string>, std::string>
        starting_;  ///< by token and id: its recording
    std::map<std::string, Running> running_;
    std::uint64_t measuring_ = 0, drafting_ = 0;  ///< the token of the newest request
    std::set<std::string> measured_runs_;         ///< whose results are to come
    std::set<std::uint64_t> branches_, drafts_;
    std::map<std::uint64_t, FollowRequest> followed_;  ///< by token
    std::set<std::uint64_t> sweeps_;
};

}  // namespace normscope::app
