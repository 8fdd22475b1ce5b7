// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// Does with a file what a reader may do with it later, through the same functions; meant for a process that
/// may crash. Walked: every group by its links, every attribute with its value, every data set with its type,
/// shape, filters and index of chunks. Read: the values of data sets until 16 MiB are read, of further ones
/// the first row. So the cost is that of the structure, not of the values.
///
/// Errors of the library are passed over: they are the reader's to report. Returns why the file must not be
/// read all the same, empty where nothing speaks against it: parts that lie in other files, which nobody has
/// walked.
std::string walk_file(const std::string& path);

}  // namespace normscope
