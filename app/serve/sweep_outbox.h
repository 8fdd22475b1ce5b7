// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/sweep_request.h"
#include "app/lab/remote/channel.h"

#include <cstddef>
#include <deque>
#include <string>

namespace normscope::app {

/// What happens in sweeps, on its way to the window: in its order, each row with the file of its recording,
/// which is read when it is sent. While the connection is cut, or slow, recordings wait on the disk, not in
/// memory. A file that cannot be read then is stated, and its row is sent without it. One thread.
class SweepOutbox {
  public:
    /// Sends while fewer than `max_waiting` bytes wait in the channel.
    SweepOutbox(Channel& channel, std::size_t max_waiting) : channel_(channel), max_waiting_(max_waiting) {}

    /// `recording`: the file of an ended run; empty: none.
    void add(SweepReply reply, std::string recording);
    /// Sends what it may: to be called when the other end has acknowledged messages.
    void send();
    bool empty() const { return replies_.empty(); }

  private:
    struct Waiting {
        SweepReply reply;
        std::string recording;
    };
    void send(Waiting next);

    Channel& channel_;
    const std::size_t max_waiting_;
    std::deque<Waiting> replies_;
};

}  // namespace normscope::app
