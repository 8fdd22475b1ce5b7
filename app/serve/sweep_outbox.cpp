// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/sweep_outbox.h"

#include "app/lab/remote/messages.h"
#include "core/sweep/sweep_folder.h"

#include <utility>

namespace normscope::app {

void SweepOutbox::add(SweepReply reply, std::string recording) {
    replies_.push_back({std::move(reply), std::move(recording)});
    send();
}

void SweepOutbox::send() {
    while (!replies_.empty() && channel_.waitingBytes() < max_waiting_) {
        Waiting next = std::move(replies_.front());
        replies_.pop_front();
        send(std::move(next));
    }
}

void SweepOutbox::send(Waiting next) {
    if (auto* ended = std::get_if<SweepReply::Ended>(&next.reply.what); ended && !next.recording.empty()) {
        if (auto bytes = text_of_file(next.recording)) {
            ended->recording = std::move(*bytes);
        } else {
            ended->row.recording.clear();
            const std::string line = next.recording + ": cannot be read, so that the recording is not copied";
            channel_.send(to_bytes(reply::Swept{{next.reply.token, SweepReply::Noted{line}}}));
        }
    }
    channel_.send(to_bytes(reply::Swept{std::move(next.reply)}));
}

}  // namespace normscope::app
