// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>

namespace normscope {

/// libhdf5 believes much of what a file says: a few wrong bytes can make it free what it never took, or
/// search for ever. A foreign file, one that this process has neither written nor looked at before, is
/// therefore first walked by another process (normscope-walk), and is opened here only when that one came
/// through.
///
/// Covered, see walk.h: the structure of the file, and the values of small files and the first of large ones.
/// Not covered: values deep inside large data sets, a file that is changed between the walk and the reading,
/// and damage that the walk survives by luck. What the library reports as an error in a damaged file is no
/// reason to refuse it: the reader says it in its own words, or takes what is left of a recording.

/// From now on this process has foreign files walked by that program and gives it that time. Both programs
/// call this first; without it (in most tests) files are opened at once.
void guard_foreign_files(const std::string& walker,
                         std::chrono::milliseconds patience = std::chrono::seconds(20));

/// The walker that belongs to the running program: beside it or, in a build folder, one folder up.
std::string installed_walker();

/// InputError, one line, where the file makes the walker crash, run out of time or refuse. SystemError where
/// the walker cannot be started. Cheap for a file that has not changed since it was last found in order.
void require_walked(const std::string& path);

/// This process has just written this file: no need to look at it.
void trust_as_it_is(const std::string& path);

}  // namespace normscope
