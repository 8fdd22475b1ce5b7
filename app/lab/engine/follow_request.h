// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recording/recording_growth.h"

#include <QMetaType>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// Recordings that other processes write, to read what was added.
struct FollowRequest {
    struct Run {
        std::string id, path;
        RecordingMark known;
    };
    std::uint64_t token = 0;  ///< of the reply
    std::vector<Run> runs;
};
struct FollowReply {
    struct Run {
        std::string id, path;
        std::optional<RecordingGrowth> growth;  ///< nullopt: it cannot be read now
        std::string problem;                    ///< why, one line
    };
    std::uint64_t token = 0;
    std::vector<Run> runs;
    double ms = 0;  ///< that the reading took
};
using FollowReplyPtr = std::shared_ptr<const FollowReply>;

/// Reads them; calls HDF5. What cannot be read is stated in the reply.
FollowReply readGrowth(const FollowRequest& request);

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::FollowReplyPtr)
