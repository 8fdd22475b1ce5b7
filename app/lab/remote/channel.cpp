// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/channel.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace normscope::app {

namespace {
constexpr std::uint32_t kMagic = 0x4e534348;  // as this machine writes it: both ends have one byte order
}

struct Channel::Header {
    std::uint32_t magic = kMagic;
    Kind kind = Kind::Beat;
    std::uint64_t size = 0;      ///< of the message after it
    std::uint64_t number = 0;    ///< of a message, from 1 on
    std::uint64_t received = 0;  ///< the last number that this end has
};

void Channel::write(Kind kind, std::uint64_t number, const std::string& message) {
    if (!write_) return;
    const Header header{kMagic, kind, message.size(), number, received_};
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    write_(bytes += message);
}

void Channel::send(std::string message) {
    kept_bytes_ += message.size();
    kept_.push_back(std::move(message));
    if (open_) write(Kind::Message, acknowledged_ + kept_.size(), kept_.back());
}

void Channel::connected(Write write_bytes) {
    write_ = std::move(write_bytes);
    open_ = false;
    bytes_.clear();
    write(Kind::Begin, 0, {});
}

void Channel::disconnected() {
    write_ = nullptr;
    open_ = false;
}

void Channel::beat() {
    if (open_) write(Kind::Beat, 0, {});
}

void Channel::receive(const char* bytes, std::size_t size) {
    bytes_.append(bytes, size);
    std::size_t at = 0;
    Header header;
    while (write_ && bytes_.size() - at >= sizeof header) {
        std::memcpy(&header, bytes_.data() + at, sizeof header);
        if (header.magic != kMagic || header.size > kMaxMessage ||
            header.received > acknowledged_ + kept_.size())
            throw InputError("what arrives is not of an engine of Normscope");
        if (bytes_.size() - at - sizeof header < header.size) break;
        const std::string message = bytes_.substr(at + sizeof header, static_cast<std::size_t>(header.size));
        at += sizeof header + message.size();
        take(header, message);
    }
    bytes_.erase(0, std::min(at, bytes_.size()));
}

void Channel::take(const Header& header, std::string message) {
    acknowledge(header.received);
    if (header.kind == Kind::Begin) {
        open_ = true;
        for (std::size_t i = 0; i < kept_.size(); ++i) write(Kind::Message, acknowledged_ + i + 1, kept_[i]);
    }
    if (header.kind != Kind::Message) return;
    if (header.number != received_ + 1) throw InputError("a message of the engine is missing");
    ++received_;
    take_(std::move(message));
}

void Channel::acknowledge(std::uint64_t number) {
    for (; acknowledged_ < number && !kept_.empty(); ++acknowledged_) {
        kept_bytes_ -= kept_.front().size();
        kept_.pop_front();
    }
}

}  // namespace normscope::app
