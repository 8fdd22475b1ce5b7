// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// libhdf5 trusts the contents of a file: a few wrong bytes can make it free memory it does not own or loop
/// forever. A foreign file, one that this process has neither written nor checked before, is therefore first
/// walked by another process (normscope-walk), and is opened here only if that succeeds.
///
/// Covered, see foreign/walk.h: the structure of the file, and the values of small files and the first of
/// large ones. Not covered: values deep inside large data sets, a file that is changed between the walk and
/// the reading, and damage that the walk survives by luck. What the library reports as an error in a damaged
/// file does not reject it: the reader reports it, or reads the sound part of a recording.

/// Enables the guard with that walker and time limit. Both programs call this first; without it (in most
/// tests) files are opened directly.
void guard_foreign_files(const std::string& walker,
                         std::chrono::milliseconds patience = std::chrono::seconds(20));

bool guards_foreign_files();

/// The walker of the running program: in its folder or, in a build folder, one folder up.
std::string installed_walker();

/// InputError, one line, where the file makes the walker crash, run out of time or reject. SystemError where
/// the walker cannot be started. Cheap for a file that has not changed since it was last checked.
void require_verified(const std::string& path);

/// Of the runs of an outline's part: every `among`-th, beginning with that one.
struct WalkShare {
    std::size_t index = 0, among = 1;
    bool has(std::size_t run) const { return run % among == index; }
};

/// A walk of a part of a file (outline_part()) that its reader follows step by step: for each run walker and
/// reader make the same calls, and the reader begins a step when the walker has ended it. So the check takes
/// hardly longer than the reading. Several walkers share the runs of a large file: most of the time each
/// waits for another place of the disk. Without a guard, and for a part that was checked before, there is
/// nothing to wait for.
class WalkAhead {
  public:
    /// Starts that many walkers. SystemError where one cannot be started.
    WalkAhead(const std::string& path, const std::string& part, std::size_t walkers = 1);
    ~WalkAhead();
    WalkAhead(const WalkAhead&) = delete;
    WalkAhead& operator=(const WalkAhead&) = delete;

    /// Returns when the walkers have ended the next step: the first is of each of them, each further one is a
    /// run. Errors as require_verified().
    void next();
    /// Returns when all have ended them all, and remembers the part as checked. Errors as require_verified().
    void finish();

  private:
    struct Checked;
    struct Walking;
    std::unique_ptr<Checked> checked_;               ///< what is known once they have ended; null: nothing
    std::vector<std::unique_ptr<Walking>> walking_;  ///< by share
    std::size_t steps_ = 0;                          ///< asked for so far
};
/// What the walker writes for each step that it has ended.
inline constexpr char walked_step = '.';

/// The outlines of a session's runs with these probes, as a word for the walker: it reads them with the
/// function that will read them here, so that what it survives is survived here too.
std::string outline_part(const std::vector<std::string>& probes);
/// The same for a share of the runs.
std::string shared_part(const std::string& part, const WalkShare& share);

/// The content of such a word.
struct OutlinePart {
    std::vector<std::string> probes;
    WalkShare share;
};
/// Nullopt for another word.
std::optional<OutlinePart> outline_of(const std::string& part);

/// Marks a file that this process has just written as checked.
void mark_verified(const std::string& path);

}  // namespace normscope
