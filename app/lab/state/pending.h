// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/assert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

class PendingKind;

/// The requests of a laboratory whose replies are still to come, of every kind: the counter of their tokens,
/// and the session that they belong to. Interface thread only.
class PendingRequests {
  public:
    PendingRequests() = default;
    PendingRequests(const PendingRequests&) = delete;
    PendingRequests& operator=(const PendingRequests&) = delete;

    /// A token that no other request has; tokens only grow.
    std::uint64_t next() { return ++token_; }
    std::uint64_t session() const { return session_; }
    /// Another session begins: requests that belong to the one before are dropped, their replies are stale.
    void closeSession();
    /// The kinds of the requests that wait, one entry a request.
    std::vector<std::string> waiting() const;

  private:
    friend class PendingKind;
    std::vector<PendingKind*> kinds_;
    std::uint64_t token_ = 0, session_ = 0;
};

class PendingKind {
  public:
    enum class Owner {
        Session,  ///< dropped when the session is left: a reply must not reach the next one
        Window    ///< answered all the same; the handler decides what is left to do
    };
    PendingKind(const PendingKind&) = delete;
    PendingKind& operator=(const PendingKind&) = delete;

  protected:
    PendingKind(PendingRequests& all, const char* name, Owner owner);
    virtual ~PendingKind();
    virtual void dropAll() = 0;
    virtual std::size_t count() const = 0;
    std::uint64_t nextToken() { return all_.next(); }

  private:
    friend class PendingRequests;
    PendingRequests& all_;
    const std::string name_;
    const Owner owner_;
};

/// The requests of one kind, each with what its reply needs. Every request has exactly one last reply, also
/// if it fails; the handler of the reply begins with take() (or find(), if replies come in parts) and does
/// nothing where that returns none: the reply is a duplicate, or its request was replaced or dropped.
template <class Asked>
class Pending final : public PendingKind {
  public:
    enum class Replies {
        OfEach,   ///< every request is answered
        OfNewest  ///< a newer request drops the older ones
    };
    /// `dropped` is called with each request that is dropped, to cancel its work.
    Pending(PendingRequests& all, const char* name, Replies replies, Owner owner = Owner::Session,
            std::function<void(Asked&)> dropped = {})
        : PendingKind(all, name, owner), replies_(replies), dropped_(std::move(dropped)) {}

    /// Returns the token of the request, which its replies carry.
    std::uint64_t ask(Asked asked) {
        if (replies_ == Replies::OfNewest) dropAll();
        const std::uint64_t token = nextToken();
        const bool fresh = waiting_.emplace(token, std::move(asked)).second;
        NORMSCOPE_ASSERT(fresh, "a token is given once");
        return token;
    }
    /// The last reply has come, sound or failed. Nullopt: it is stale.
    std::optional<Asked> take(std::uint64_t token) {
        auto found = waiting_.extract(token);
        if (!found) return std::nullopt;
        return std::move(found.mapped());
    }
    /// A reply that is not the last one. Null: it is stale.
    Asked* find(std::uint64_t token) {
        const auto found = waiting_.find(token);
        return found == waiting_.end() ? nullptr : &found->second;
    }
    const Asked* newest() const { return waiting_.empty() ? nullptr : &std::prev(waiting_.end())->second; }
    bool waiting() const { return !waiting_.empty(); }
    template <class Condition>
    bool any(Condition&& condition) const {
        return std::any_of(waiting_.begin(), waiting_.end(),
                           [&](const auto& request) { return condition(request.second); });
    }
    void drop() { dropAll(); }

  protected:
    void dropAll() override {
        for (auto& [token, asked] : std::exchange(waiting_, {}))
            if (dropped_) dropped_(asked);
    }
    std::size_t count() const override { return waiting_.size(); }

  private:
    const Replies replies_;
    const std::function<void(Asked&)> dropped_;
    std::map<std::uint64_t, Asked> waiting_;  ///< by token
};

}  // namespace normscope::app
