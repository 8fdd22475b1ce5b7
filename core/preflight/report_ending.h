// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

enum class ReportFormat { Pdf, Html };

/// The format of a report's file name, in any case: .pdf or .html. InputError on others.
ReportFormat report_format(const std::string& path);

}  // namespace normscope
