// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace normscope::app {

/// One end of a conversation between a window and an engine on another machine, over connections that may be
/// cut: every message arrives once, and in order. Messages are numbered and kept until the other end has
/// acknowledged them; after a cut, each end states the last one that it has, and what comes after it is sent
/// again. Only the bytes: the owner makes the connections. One thread.
class Channel {
  public:
    using Write = std::function<void(const std::string& bytes)>;
    using Take = std::function<void(std::string message)>;

    /// `take` gets each message of the other end.
    explicit Channel(Take take) : take_(std::move(take)) {}
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// Sends it now, or when there is a connection.
    void send(std::string message);
    /// A connection to the other end begins, whose bytes are written by `write`.
    void connected(Write write);
    void disconnected();
    /// Bytes that have arrived, in pieces of any size. Throws InputError for what no channel sends: then the
    /// connection is to be closed.
    void receive(const char* bytes, std::size_t size);
    /// Shows the other end that this one is there, and what has arrived. Once a second.
    void beat();

    /// Messages that the other end has not acknowledged.
    std::size_t waiting() const { return kept_.size(); }
    std::size_t waitingBytes() const { return kept_bytes_; }

    /// Of one message: checkpoints of large stacks are sent whole.
    static constexpr std::uint64_t kMaxMessage = std::uint64_t{16} << 30;

  private:
    enum class Kind : std::uint32_t { Begin = 1, Message = 2, Beat = 3 };
    struct Header;
    void write(Kind kind, std::uint64_t number, const std::string& message);
    void take(const Header& header, std::string message);
    void acknowledge(std::uint64_t number);

    Take take_;
    Write write_;        ///< null: not connected
    bool open_ = false;  ///< the other end has stated what it has: messages are sent at once
    std::deque<std::string> kept_;
    std::size_t kept_bytes_ = 0;
    std::uint64_t acknowledged_ = 0;  ///< the number of the message before the first of kept_
    std::uint64_t received_ = 0;      ///< the number of the last message that was taken
    std::string bytes_;               ///< of a message that has not arrived whole
};

}  // namespace normscope::app
