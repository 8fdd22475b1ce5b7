// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep.h"

#include <QMetaType>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace normscope::app {

/// A sweep to be trained on another machine.
struct SweepRequest {
    std::uint64_t token = 0;  ///< of the replies; later requests have larger ones
    std::string name;         ///< of its folder there
    SweepSpec spec;
    std::string backend;          ///< the device's word there; empty: the best one
    std::vector<SweepRow> known;  ///< of runs that have ended here
};

/// What happens in it, in order: Begun once unless it is rejected, Over last.
struct SweepReply {
    struct Begun {
        SweepCount count;
    };
    struct Started {
        std::uint64_t run = 0;
    };
    /// Also of runs that had ended there before this request, and were not known here.
    struct Ended {
        SweepRow row;
        SweepCount count;
        std::string recording;  ///< the bytes of the file; empty: there is none
    };
    struct Noted {
        std::string line;
    };
    struct Over {
        std::string not_valid, failed;  ///< one line: why it was rejected, or why it broke off
    };
    std::uint64_t token = 0;
    std::variant<Begun, Started, Ended, Noted, Over> what;
};
using SweepReplyPtr = std::shared_ptr<const SweepReply>;

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::SweepReplyPtr)
