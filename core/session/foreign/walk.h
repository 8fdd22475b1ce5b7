// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace normscope {

/// Performs the accesses of a reader, through the same functions; for a process that may crash. Walked: every
/// group by its links, every attribute with its value, every data set with its type, shape, filters and index
/// of chunks. Read: the values of data sets until 16 MiB are read, of further ones the first row. So the cost
/// is that of the structure, not of the values.
///
/// Errors of the library are ignored: the reader reports them. Returns the reason to reject the file, empty
/// if there is none: parts that lie in other files, which are not walked.
std::string walk_file(const std::string& path);

/// The same for a part of the file (guard.h, outline_part); calls `ended` after each of its steps but the
/// last.
std::string walk_part(const std::string& path, const std::string& part, const std::function<void()>& ended);

}  // namespace normscope
