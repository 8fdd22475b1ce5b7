// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/follow_request.h"

#include <chrono>
#include <exception>

namespace normscope::app {

FollowReply readGrowth(const FollowRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    FollowReply reply{request.token, {}, 0};
    for (const FollowRequest::Run& run : request.runs) {
        FollowReply::Run& read = reply.runs.emplace_back(FollowReply::Run{run.id, run.path, {}, {}});
        try {
            read.growth = read_growth(run.path, run.known);
        } catch (const std::exception& error) {
            read.problem = error.what();
        }
    }
    reply.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return reply;
}

}  // namespace normscope::app
